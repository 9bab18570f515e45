/**
 * The parts of an action that can be tried before anything is changed: on a copy of its table, or on an empty table
 * with the same columns. Pure.
 */
import type { Action, ActionFor, AddedColumn } from "../../actions/model/action.ts";
import { computationSql } from "../../actions/model/computation.ts";
import { typesWithin, type Column } from "../../schema/data-type.ts";
import { formatPath, isWithin, parsePath } from "../../schema/path.ts";
import { isNull } from "../../actions/model/risk.ts";
import { namesIn, sqlPath } from "../../schema/sql.ts";
import { columnsWithin, findColumn, type Database, type Table } from "../../schema/table.ts";
import type { SqlCall } from "../../targets/contract/target.ts";
import { castSql } from "../../wire/arrow/arrow-cast.ts";
import { tablesOfAction } from "../../actions/apply-action.ts";
import { follow, tableBefore } from "../../actions/follow.ts";
import { isReserved } from "../../actions/rewrite/append-guard.ts";
import { markColumn } from "../../actions/rewrite/source-marks.ts";
import type { PlannedAction } from "../make-plan.ts";
import { computedColumn, computedIn } from "./rows-to-compute.ts";

export interface TrialChecks {
  /** Calls that evaluate the SQL of the action, and the columns of its table at that point. */
  readonly evaluates?: (Pick<Table, "columns"> & { readonly tried: readonly TrialCall[] }) | undefined;
  /**
   * A field that the action adds to a struct, or a column with a blob, which old formats lack. `table`: its current name;
   * undefined if the plan itself creates it.
   */
  readonly adds?: { readonly table: string | undefined; readonly path: string; readonly isBlob: boolean } | undefined;
  /** A computed column that is refreshed, and the columns in its expression that hold no nulls. `table`: its current name. */
  readonly refreshes?:
    | { readonly table: string; readonly path: string; readonly strict: readonly string[] }
    | undefined;
  /** Columns that this action and earlier ones drop, by their current names. */
  readonly drops?: { readonly table: string; readonly paths: readonly string[] } | undefined;
}

/** A call that shows whether the engine accepts SQL. `words`: what can't be done if it doesn't. */
export interface TrialCall {
  readonly call: SqlCall;
  readonly words: string;
  /** Calls with one part of the SQL each. The first one that is refused too is the one to name. */
  readonly parts?: readonly TrialCall[];
}

/** `earlier`: the actions between the current tables and this one. */
export function trialChecks(
  planned: PlannedAction,
  { earlier, now }: { readonly earlier: readonly Action[]; readonly now: Database },
): TrialChecks {
  return {
    evaluates: evaluatesOf(planned, earlier, now),
    adds: addedBy(planned, earlier, now),
    refreshes: refreshesOf(planned, earlier, now),
    drops: dropsOf(planned.action, earlier, now),
  };
}

function addedBy({ action, before }: PlannedAction, earlier: readonly Action[], now: Database): TrialChecks["adds"] {
  const table = tableBefore(action.table, earlier, now);
  if (action.kind === "addField") return { table, path: action.path, isBlob: false };
  const added = action.kind === "addColumns" ? action.columns.find(holdsBlob) : undefined;
  // A table that is created with a blob gets a format that has blobs.
  if (added === undefined || before.get(action.table)?.columns.some(holdsBlob) === true) return undefined;
  return { table, path: formatPath([added.name]), isBlob: true };
}

function holdsBlob({ type }: Column): boolean {
  return typesWithin(type).some(({ kind }) => kind === "blob");
}

function refreshesOf(
  { action, before }: PlannedAction,
  earlier: readonly Action[],
  now: Database,
): TrialChecks["refreshes"] {
  if (action.kind !== "refreshColumn") return undefined;
  const { columns } = before.get(action.table)!;
  const names = namesIn(findColumn(columns, parsePath(action.path))?.computed ?? "");
  const strict = columns.filter(({ name, nullable }) => !nullable && names.includes(name)).map(({ name }) => name);
  const table = tableBefore(action.table, earlier, now);
  return table === undefined || strict.length === 0 ? undefined : { table, path: action.path, strict };
}

function evaluatesOf(planned: PlannedAction, earlier: readonly Action[], now: Database): TrialChecks["evaluates"] {
  const { action, before } = planned;
  const columns = before.get(action.table)?.columns;
  if (columns === undefined) return undefined;
  switch (action.kind) {
    case "addColumns":
    case "convertColumn":
      return trying(columns, newValues(action, earlier, now));
    case "updateRows":
      return trying(columns, [updating(action)]);
    case "deleteRows":
      return trying(columns, [{ call: action, words: meeting(action.where) }]);
    default:
      return filling(planned, columns);
  }
}

function trying(columns: Table["columns"], given: readonly TrialCall[]): TrialChecks["evaluates"] {
  const tried = given.filter((one) => ![one, ...(one.parts ?? [])].some(namesUnseen));
  return tried.length === 0 ? undefined : { columns, tried };
}

/** Whether the SQL may read a column of this tool. The table can have one, but migrations don't see it. */
function namesUnseen({ words }: TrialCall): boolean {
  return namesIn(words).some(isReserved);
}

function newValues(
  action: ActionFor<"addColumns" | "convertColumn">,
  earlier: readonly Action[],
  now: Database,
): readonly TrialCall[] {
  const { table } = action;
  const adding = (column: AddedColumn, words: string): TrialCall => ({
    call: { kind: "addColumns", table, columns: [column] },
    words,
  });
  const declared = action.kind === "addColumns" ? action.columns : [];
  const computed = declared.flatMap((column) =>
    column.computed === undefined ? [] : adding(column, computing(`${table}.${column.name}`, column.computed)),
  );
  // Otherwise the current table is queried, or the first call shows it.
  const isChanged = !now.has(table) || earlier.some((one) => tablesOfAction(one).includes(table));
  const given = isChanged ? expressionsOf(action).filter(({ sql }) => !isNull(sql)) : [];
  return [...computed, ...given.map(({ path, sql }) => adding(columnOf(sql), computing(`${table}.${path}`, sql)))];
}

function expressionsOf(
  action: ActionFor<"addColumns" | "convertColumn">,
): readonly { readonly path: string; readonly sql: string }[] {
  if (action.kind === "convertColumn") return [{ path: action.path, sql: action.using }];
  return action.columns.flatMap(({ name, as }) => (as === undefined ? [] : { path: name, sql: as }));
}

/** Whether the value is null is a valid column, whatever the type of the value. */
function columnOf(sql: string): AddedColumn {
  return { name: "_migrations_tried", type: { kind: "bool" }, nullable: true, as: `(${sql}) IS NULL` };
}

function updating(action: ActionFor<"updateRows">): TrialCall {
  const { table, set, where } = action;
  const parts = Object.entries(set).map(([path, sql]): TrialCall => ({
    call: { kind: "updateRows", table, set: { [path]: sql } },
    words: computing(`${table}.${path}`, sql),
  }));
  return { call: action, words: where === undefined ? `${table} can't be updated` : meeting(where), parts };
}

/** The search by which a run finds the rows to compute, and gets the values that SQL gives them. */
function filling({ action: { table }, commits }: PlannedAction, columns: Table["columns"]): TrialChecks["evaluates"] {
  const values = computedIn(commits);
  const column = computedColumn(commits);
  if (values === undefined || column === undefined) return undefined;
  const { how, pending, mark } = values;
  const sql = computationSql(how);
  if (sql === undefined && how.where === undefined) return undefined;
  const own = [{ ...column, name: values.column }, markColumn(mark)];
  const all = [...columns, ...own.filter(({ name }) => !columns.some((one) => one.name === name))];
  const value = sql === undefined ? [] : [[values.column, castSql(sql, column.type)] as const];
  const read = { kind: "readRows", table, select: [[how.key, sqlPath([how.key])], ...value] } as const;
  const valued = sql === undefined ? [] : [{ call: read, words: computing(`${table}.${column.name}`, sql) }];
  if (how.where === undefined) return trying(all, valued);
  const call = { ...read, where: `(${pending}) and (${how.where})` };
  return trying(all, [{ call, words: meeting(how.where), parts: valued }]);
}

function computing(place: string, sql: string): string {
  return `${place} can't be computed from ${sql}`;
}

function meeting(where: string): string {
  return `no rows can be found where ${where}`;
}

/**
 * The columns of a table that are dropped at that point; undefined if an earlier action may have written new files for
 * existing rows.
 */
function dropsOf(action: Action, earlier: readonly Action[], now: Database): TrialChecks["drops"] {
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
