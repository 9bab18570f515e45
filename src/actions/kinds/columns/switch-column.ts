import type { Action, AlterColumnsAction, SwitchColumnAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { risksForEmbeddings } from "../../rewrite/embedding-functions.ts";
import { formatType, type DataType } from "../../../schema/data-type.ts";
import type { Risk } from "../../model/risk.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import type { Table } from "../../../schema/table.ts";
import { addColumns } from "./add-columns.ts";
import { alterColumns } from "./alter-columns.ts";
import { createIndex } from "../tables/create-index.ts";

export const switchColumn: ActionModel<SwitchColumnAction> = {
  kind: "switchColumn",
  after: (before, { table, path, keep, type, index }) => {
    const kept = alterColumns.after(before, renaming(table, [[path, keep]]));
    const name = parsePath(path)[0]!;
    const switched = addColumns.after(kept, { kind: "addColumns", table, columns: [{ name, type, nullable: true }] });
    if (index === undefined) return switched;
    const { name: named, ...kind } = index;
    return createIndex.after(switched, { kind: "createIndex", table, name: named, index: { path, ...kind } });
  },
  pathAfter: ([first, ...rest]: Path, { path, keep }) =>
    first === parsePath(path)[0] ? [keep, ...rest] : [first!, ...rest],
  gives: ({ path }) => [{ path: parsePath(path), sql: undefined }],
  invert: ({ table, path, keep, index, down }) => {
    const actions: Action[] = [];
    const kept = formatPath([keep]);
    if (down !== undefined) actions.push({ ...down, kind: "backfillColumn", table, path: kept, overwrite: true });
    if (index !== undefined) actions.push({ kind: "dropIndex", table, name: index.name });
    actions.push(
      renaming(table, [
        [path, keep],
        [kept, parsePath(path)[0]!],
      ]),
      { kind: "dropColumns", table, paths: [kept] },
    );
    // Rows that were written since have no old value, or that of their old sources.
    return { actions, obstacles: down === undefined ? [{ kind: "filled", table, path }] : [] };
  },
  describe: ({ table, path, keep, type }) =>
    `switch ${table}.${path} to the new values, as ${formatType(type)}; the old column is kept as ${keep}`,
  risks: ({ table, path, type }, before) => [
    ...risksForEmbeddings(table, before, [path]),
    ...risksForSearches(table, path, type, before),
  ],
};

function renaming(table: string, names: readonly (readonly [path: string, rename: string])[]): AlterColumnsAction {
  return { kind: "alterColumns", table, alterations: names.map(([path, rename]) => ({ path, rename })) };
}

/** Clients search the only vector column of a length if they are not told which (measured). */
function risksForSearches(table: string, path: string, type: DataType, { columns }: Table): readonly Risk[] {
  if (type.kind !== "fixedSizeList") return [];
  const twins = columns.filter((column) => column.type.kind === "fixedSizeList" && column.type.length === type.length);
  if (twins.length === 0) return [];
  return [
    {
      kind: "readers",
      text: `${twins.map(({ name }) => name).join(", ")} and the new ${path} of ${table} have vectors of ${type.length} numbers: from when its values are computed until the old column is dropped, searches must name the column that they search`,
    },
  ];
}
