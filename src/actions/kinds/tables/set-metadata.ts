import { ownValue, type Column } from "../../../schema/data-type.ts";
import { parsePath } from "../../../schema/path.ts";
import { findColumn, replaceColumn, requireColumn } from "../../../schema/table.ts";
import type { MetadataUpdate, SetMetadataAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const setMetadata: ActionModel<SetMetadataAction> = {
  kind: "setMetadata",
  after: (before, { table, updates }) => {
    const columns = updates.reduce((all, update) => updated(all, update, table), before.columns);
    return { ...before, columns };
  },
  invert: ({ table, updates }, { columns }) => {
    const back = updates.map(({ path, metadata }): MetadataUpdate => {
      const known = findColumn(columns, parsePath(path))?.metadata ?? {};
      return {
        path,
        metadata: Object.fromEntries(Object.keys(metadata).map((key) => [key, ownValue(known, key) ?? null])),
      };
    });
    return { actions: [{ kind: "setMetadata", table, updates: back }], obstacles: [] };
  },
  describe: ({ table, updates }) => updates.flatMap((update) => describeUpdate(table, update)).join(", "),
};

function updated(columns: readonly Column[], { path, metadata }: MetadataUpdate, table: string): readonly Column[] {
  const at = parsePath(path);
  requireColumn(table, columns, at);
  return replaceColumn(columns, at, (column) => ({ ...column, metadata: { ...column.metadata, ...metadata } }));
}

function describeUpdate(table: string, { path, metadata }: MetadataUpdate): readonly string[] {
  return Object.entries(metadata).map(([key, value]) =>
    value === null
      ? `remove ${key} from ${table}.${path}`
      : `set ${key} of ${table}.${path} to ${JSON.stringify(value)}`,
  );
}
