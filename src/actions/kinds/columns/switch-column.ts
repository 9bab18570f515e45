import type { Action, SwitchColumnAction } from "../../model/action.ts";
import type { Alteration } from "../../model/alteration.ts";
import type { Blocker } from "../../model/inverse.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { switching } from "../../rewrite/prepared-columns.ts";
import { risksOfAnotherModel } from "../../rewrite/embedding-functions.ts";
import { formatType, type DataType } from "../../../schema/data-type.ts";
import type { Risk } from "../../model/risk.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { requireColumn, type Table } from "../../../schema/table.ts";
import { addColumns } from "./add-columns.ts";
import { alterColumns } from "./alter-columns.ts";
import { isVectorIndex } from "../../../schema/table-index.ts";
import { createIndex } from "../tables/create-index.ts";

export const switchColumn: ActionModel<SwitchColumnAction> = {
  kind: "switchColumn",
  after: (before, action) => {
    const { table, path, type, index } = action;
    const [keeping] = switching(action, before) as [Alteration, Alteration];
    const kept = alterColumns.after(before, { kind: "alterColumns", table, alterations: [keeping] });
    const name = parsePath(path)[0]!;
    const switched = addColumns.after(kept, { kind: "addColumns", table, columns: [{ name, type, nullable: true }] });
    if (index === undefined) return switched;
    const { name: named, ...kind } = index;
    return createIndex.after(switched, { kind: "createIndex", table, name: named, index: { path, ...kind } });
  },
  pathAfter: ([first, ...rest]: Path, { path, keep }) =>
    first === parsePath(path)[0] ? [keep, ...rest] : [first!, ...rest],
  gives: ({ path }) => [{ path: parsePath(path), sql: undefined }],
  invert: ({ table, path, keep, index, down, version: marked, type: newType }, before) => {
    const kept = formatPath([keep]);
    const { type, nullable } = requireColumn(table, before.columns, parsePath(path));
    const filling = down && ({ ...down, table, path } as const);
    const back = { path: kept, rename: parsePath(path)[0]! };
    const actions: Action[] = [];
    const blockers: Blocker[] = [];
    if (filling !== undefined) actions.push({ ...filling, kind: "prepareColumn", type, into: kept, marked });
    if (index !== undefined) actions.push({ kind: "dropIndex", table, name: index.name });
    // Rows that were written since have no old value, or that of their old sources.
    if (filling === undefined) blockers.push({ kind: "filled", table, path, at: actions.length });
    actions.push({ kind: "alterColumns", table, alterations: [{ path, rename: keep }, back] });
    if (filling !== undefined) actions.push({ ...filling, kind: "catchUpColumn", was: keep, keep: back.rename });
    if (!nullable) {
      blockers.push({ kind: "null", table, path, at: actions.length });
      actions.push({ kind: "alterColumns", table, alterations: [{ path, nullable: false }] });
    }
    const holds = `the values of the new model (${formatType(newType)})`;
    return { actions: [...actions, { kind: "dropColumns", table, paths: [kept], holds }], blockers };
  },
  describe: ({ table, path, keep, type }) =>
    `switch ${table}.${path} to the new values, as ${formatType(type)}; the old column is kept as ${keep}`,
  risks: (action, before) => [
    ...risksOfAnotherModel(action.table, before, parsePath(action.path)[0]!),
    ...risksForSearches(action.table, action.path, action.type, before),
    ...risksOfOptions(action, before),
  ],
};

/** The options that the step may lack. After `up`, the step can't be changed. */
function risksOfOptions({ table, path, index, down }: SwitchColumnAction, { indexes = {} }: Table): readonly Risk[] {
  const indexed = Object.entries(indexes).find(([, one]) => one !== null && isVectorIndex(one) && one.path === path);
  const risks: Risk[] = [];
  if (index === undefined && indexed !== undefined)
    risks.push({
      kind: "readers",
      text: `the step has no \`index\`: ${indexed[0]} stays on the old column of ${table}, so searches on the new ${path} compare every row`,
    });
  if (down === undefined)
    risks.push({
      kind: "writers",
      text: "the step has no `down`, which can only be added before `up`: a rollback computes no old values for rows that were written since",
    });
  return risks;
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
