/**
 * The parts of an action that can be tried before anything is changed: on a copy of its table, or on an empty table
 * with the same columns. Pure.
 */
import type { Action, AddedColumn } from "../../actions/model/action.ts";
import { formatPath, isWithin } from "../../schema/path.ts";
import { isNull } from "../../actions/model/risk.ts";
import { columnsWithin, type Database, type Table } from "../../schema/table.ts";
import { follow, tableBefore } from "../../actions/follow.ts";
import type { PlannedAction } from "../make-plan.ts";

export interface Trials {
  /** Computed columns that the action declares, and the columns of its table at that point. */
  readonly computes?:
    | (Pick<Table, "columns"> & { readonly table: string; readonly added: readonly AddedColumn[] })
    | undefined;
  /** A field that the action adds to a struct. `table`: its current name; undefined if the plan itself creates it. */
  readonly addsField?: { readonly table: string | undefined; readonly path: string } | undefined;
  /** Columns that this action and earlier ones drop, by their current names. */
  readonly drops?: { readonly table: string; readonly paths: readonly string[] } | undefined;
}

/** `earlier`: the actions between the current tables and this one. */
export function trialsOf(
  planned: PlannedAction,
  { earlier, now }: { readonly earlier: readonly Action[]; readonly now: Database },
): Trials {
  return {
    computes: computesOf(planned),
    addsField: fieldOf(planned.action, earlier, now),
    drops: dropsOf(planned.action, earlier, now),
  };
}

function fieldOf(action: Action, earlier: readonly Action[], now: Database): Trials["addsField"] {
  if (action.kind !== "addField") return undefined;
  const { table, path } = action;
  return { table: tableBefore(table, earlier, now), path };
}

function computesOf({ action, before }: PlannedAction): Trials["computes"] {
  const table = before.get(action.table);
  if (action.kind !== "addColumns" || table === undefined) return undefined;
  const added = action.columns.filter((column) => column.computed !== undefined);
  return added.length === 0 ? undefined : { table: action.table, columns: table.columns, added };
}

/**
 * The columns of a table that are dropped at that point; undefined if an earlier action may have written new files for
 * existing rows.
 */
function dropsOf(action: Action, earlier: readonly Action[], now: Database): Trials["drops"] {
  if (action.kind !== "dropColumns") return undefined;
  const table = tableBefore(action.table, earlier, now);
  if (table === undefined) return undefined;
  const touches = (one: Action, index: number) =>
    one.table === follow({ table, path: [] }, earlier.slice(0, index))?.table;
  if (!earlier.filter(touches).every(keepsFiles)) return undefined;
  const gone = columnsWithin(now.get(table)!.columns)
    .map(({ path }) => path)
    .filter((path) => follow({ table, path }, [...earlier, action]) === undefined);
  const outermost = gone.filter((path) => !gone.some((other) => other !== path && isWithin(path, other)));
  return outermost.length === 0 ? undefined : { table, paths: outermost.map(formatPath) };
}

/** Whether existing rows stay in the same files, and no file gets more columns. */
function keepsFiles(action: Action): boolean {
  if (action.kind === "addColumns") return action.columns.every(({ as = "null" }) => isNull(as));
  if (action.kind === "alterColumns") return action.alterations.every(({ type }) => type === undefined);
  return ["dropColumns", "renameTable", "createIndex", "dropIndex", "setMetadata", "insertRows"].includes(action.kind);
}
