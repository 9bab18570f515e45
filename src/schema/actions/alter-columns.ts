import type { ActionKind } from "../action.ts";
import { alterColumns as alteredTable, describeAlteration, type Alteration } from "../alter.ts";
import { childColumns, type Column } from "../data-type.ts";
import { withoutMetadata } from "../metadata.ts";
import { parsePath } from "../path.ts";
import { currentPath, newNames } from "../renames.ts";
import { risksOfAlteration } from "../risk.ts";
import { getTable, type Table } from "../table.ts";
import { guardOff, guardOn, guardOnByHiding } from "./guard.ts";
import type { ActionModel, ActionOf, Commit } from "./model.ts";
import { checkIndexes, createIndexes, dropIndexes, indexesOn, indexRisks, putBackMetadata } from "./surroundings.ts";

export interface AlterColumnsAction extends ActionOf<"alterColumns"> {
  readonly alterations: readonly Alteration[];
}

export const alterColumns: ActionModel<AlterColumnsAction> = {
  kind: "alterColumns",
  after: (database, action) => {
    const { table, alterations } = action;
    const before = getTable(database, table);
    const after = alteredTable(table, before, alterations);
    checkIndexes(table, after, indexesOn(before, rewrittenBy(action)));
    return new Map([[table, after]]);
  },
  describe: ({ table, alterations }) => alterations.map((one) => describeAlteration(table, one)).join(", "),
  risks: (action, before, able) => [
    ...action.alterations.flatMap((one) => risksOfAlteration(action.table, before, one, mayGuard(able))),
    ...indexRisks(action.table, before, rewrittenBy(action)),
  ],
  rewrites: rewrittenBy,
  commits: (action, before, able) => {
    const { table } = action;
    const rewritten = rewrittenBy(action);
    if (rewritten.size === 0 || !mayGuard(able)) return [{ action, undo: [] }];
    const after = alteredTable(table, before, action.alterations);
    const columns = before.columns.filter(({ name }) => rewritten.has(name));
    const renamed = new Set(
      before.columns.flatMap(({ name }, at) => (rewritten.has(name) ? [after.columns[at]!.name] : [])),
    );
    const was = indexesOn(before, rewritten);
    const indexes = able("createIndex")
      ? // Backwards, so that whoever is killed while undoing leaves what the next run knows how to go on from.
        { drop: dropIndexes(table, was), undo: createIndexes(table, was.toReversed()) }
      : undefined;
    const guarded = columns.some(holdsNulls);
    const undoIndexes = indexes?.undo ?? [];
    const hiding = guardOnByHiding(table, rewritten, undoIndexes);
    const off = guardOff(table);
    const cast: Commit = { action, undo: [off, ...undoIndexes], loses: true };
    return [
      ...alone(indexes?.drop ?? []),
      ...(guarded
        ? [{ action: guardOn(table), undo: undoIndexes, detour: hiding }, cast]
        : [{ action, undo: undoIndexes, loses: true, detour: [...hiding, cast, ...alone([off])] }]),
      ...alone(able("setMetadata") ? putBackMetadata(table, after, renamed) : []),
      ...alone(guarded ? [off] : []),
      ...alone(indexes === undefined ? [] : createIndexes(table, indexesOn(after, renamed))),
    ];
  },
};

function mayGuard(able: (kind: ActionKind) => boolean): boolean {
  return able("addColumns") && able("dropColumns");
}

function alone(actions: readonly Commit["action"][]): readonly Commit[] {
  return actions.map((action) => ({ action, undo: [] }));
}

/** The columns of the table that are cast, as a whole or in part. */
function rewrittenBy({ alterations }: AlterColumnsAction): ReadonlySet<string> {
  return new Set(alterations.flatMap(({ path, type }) => (type === undefined ? [] : [parsePath(path)[0]!])));
}

function holdsNulls({ nullable, type }: Column): boolean {
  return nullable || childColumns(type).some(holdsNulls);
}

/** The table after it as the engine leaves it: what is cast loses its metadata. */
export function afterCast(action: AlterColumnsAction, after: Table): Table {
  const names = newNames(action.alterations);
  const cast = new Set([...rewrittenBy(action)].map((name) => currentPath([name], names)[0]!));
  return {
    ...after,
    columns: after.columns.map((column) => (cast.has(column.name) ? withoutMetadata(column) : column)),
  };
}
