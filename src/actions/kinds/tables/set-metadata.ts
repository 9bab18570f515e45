import { conflict } from "../../model/conflict.ts";
import { formatType, ownValue, type Column } from "../../../schema/data-type.ts";
import { parsePath } from "../../../schema/path.ts";
import { extensionKey, extensionName, reservedProblem } from "../../../schema/reserved-metadata.ts";
import { findColumn, replaceColumn, requireColumn } from "../../../schema/table.ts";
import type { MetadataUpdate, SetMetadataAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const setMetadata: ActionModel<SetMetadataAction> = {
  kind: "setMetadata",
  after: (before, { table, updates }) => {
    const columns = updates.reduce((all, update) => updated(all, update, table), before.columns);
    return { ...before, columns };
  },
  invert: ({ table, updates, replace }, { columns }) => {
    const unknown = updates.flatMap(({ path, metadata }) => {
      const known = findColumn(columns, parsePath(path))?.metadata ?? {};
      return Object.keys(metadata).flatMap((key) => (Object.hasOwn(known, key) ? [] : [`${key} of ${table}.${path}`]));
    });
    if (replace === true && unknown.length > 0)
      return { lost: `no migration has set ${unknown.join(", ")}, so the former value is unknown` };
    const back = updates.map(({ path, metadata }): MetadataUpdate => {
      const known = findColumn(columns, parsePath(path))?.metadata ?? {};
      return {
        path,
        metadata: Object.fromEntries(Object.keys(metadata).map((key) => [key, ownValue(known, key) ?? null])),
      };
    });
    return { actions: [{ kind: "setMetadata", table, updates: back }], blockers: [] };
  },
  describe: ({ table, updates }) => updates.flatMap((update) => describeUpdate(table, update)).join(", "),
};

function updated(columns: readonly Column[], { path, metadata }: MetadataUpdate, table: string): readonly Column[] {
  const at = parsePath(path);
  const { type } = requireColumn(table, columns, at);
  const reserved = reservedProblem(extensionKey, ownValue(metadata, extensionKey) ?? null, extensionName(type));
  if (Object.hasOwn(metadata, extensionKey) && reserved !== undefined)
    throw conflict(table, `${path} is ${formatType(type)}: ${reserved}; leave the key out`);
  return replaceColumn(columns, at, (column) => ({ ...column, metadata: { ...column.metadata, ...metadata } }));
}

function describeUpdate(table: string, { path, metadata }: MetadataUpdate): readonly string[] {
  return Object.entries(metadata).map(([key, value]) =>
    value === null
      ? `remove ${key} from ${table}.${path}`
      : `set ${key} of ${table}.${path} to ${JSON.stringify(value)}`,
  );
}
