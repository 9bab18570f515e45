/**
 * Looks up the model of an action and applies it. An action that takes several commits consists of actions that are one
 * atomic commit each.
 */
import type { Action, ActionFor, ActionKind } from "./model/action.ts";
import * as models from "./registry.ts";
import type { ActionModel, ColumnRef, Commit, ComputedValues, GivenValues, WrittenData } from "./model/action-model.ts";
import type { Computation } from "./model/computation.ts";
import type { Risk } from "./model/risk.ts";
import { catchMigrateError, MigrateError } from "../errors/migrate-error.ts";
import { tableNameProblem } from "../schema/names.ts";
import { isWithin } from "../schema/path.ts";
import { change, databaseOf, getTable, type Database, type Table, type Tables } from "../schema/table.ts";
import type { Inverse } from "./model/inverse.ts";

const registry = models satisfies { readonly [Kind in ActionKind]: ActionModel<ActionFor<Kind>> };

export const actionKinds = Object.keys(registry) as readonly ActionKind[];

/** After these actions, a name may belong to another table. */
export const replacesTable: ReadonlySet<ActionKind> = new Set(["createTable", "dropTable", "renameTable"]);

/** The tables that an action changes, as they are after it. Throws a MigrateError with the reason if it can't work. */
export function tablesAfter(database: Database, action: Action): Tables {
  const { table } = action;
  const before = tableBefore(database, action);
  const name = nameAfter(action);
  const { creates, nameAfter: renames } = modelOf(action);
  if (name !== undefined && (creates || renames)) checkNewTable(database, name);
  const after = afterOf(action, before);
  return new Map([
    ...(name === table ? [] : [[table, undefined] as const]),
    ...(name === undefined ? [] : [[name, after] as const]),
  ]);
}

/** Throws a MigrateError if an action reads another table that is not there, or not as it must be. */
export function checkReads(database: Database, action: Action): void {
  modelOf(action).checkReads?.(database, action);
}

const noTable: Table = { columns: [] };

function tableBefore(database: Database, action: Action): Table {
  return modelOf(action).creates ? noTable : getTable(database, action.table);
}

/** Refuses a name that is taken, or that the engine does not accept. */
function checkNewTable(database: Database, table: string): void {
  const problem = tableNameProblem(table);
  if (problem !== undefined) throw new MigrateError("ERR_TABLE_NAME", { table, problem });
  if (database.has(table)) throw new MigrateError("ERR_TABLE_EXISTS", { table });
}

/** The last result of each action: to plan it, it is applied several times to the same table. */
const results = new WeakMap<Action, { readonly before: Table; readonly after: Table }>();

function afterOf(action: Action, before: Table): Table {
  const known = results.get(action);
  if (known?.before === before) return known.after;
  const after = modelOf(action).after(before, action);
  results.set(action, { before, after });
  return after;
}

/** What an action's table is called after it; undefined if the action drops it. */
function nameAfter(action: Action): string | undefined {
  const { nameAfter } = modelOf(action);
  return nameAfter === undefined ? action.table : nameAfter(action);
}

/** Applies actions in order to the database itself. Throws a MigrateError with the reason if one can't work. */
export function applyActions(database: Map<string, Table>, actions: readonly Action[]): Map<string, Table> {
  for (const action of actions) {
    const tables = tablesAfter(database, action);
    checkReads(database, action);
    change(database, tables);
  }
  return database;
}

/** An action's own table after it. */
export function tableAfter(database: Database, action: Action): Table {
  const table = tablesAfter(database, action).get(action.table);
  if (table === undefined) throw new TypeError(`${action.kind} leaves no table ${action.table}`);
  return table;
}

/** An action's own table after it; undefined if the action can't work on the table, or leaves none. */
export function resultOf(action: Action, before: Table | undefined): Table | undefined {
  return catchMigrateError(
    () => tablesAfter(databaseOf(new Map([[action.table, before]])), action).get(action.table),
    () => undefined,
  );
}

/** All tables that an action touches. */
export function tablesOfAction(action: Action): readonly string[] {
  return [...new Set([action.table, nameAfter(action) ?? action.table])];
}

/** What a table or column is called after an action; undefined if it is gone. */
export function refAfter(at: ColumnRef, action: Action): ColumnRef | undefined {
  if (action.table !== at.table) return at;
  const table = nameAfter(action);
  const { pathAfter } = modelOf(action);
  const path = pathAfter === undefined || at.path.length === 0 ? at.path : pathAfter(at.path, action);
  return table === undefined || path === undefined ? undefined : { table, path };
}

/** An action as text, for plans and progress. */
export function describeAction(action: Action): string {
  return modelOf(action).describe(action);
}

/** The risks of an action on the table `before`. `able`: the kinds of calls that the target supports. */
export function risksOf(
  action: Action,
  before: Table | undefined,
  able: (kind: ActionKind) => boolean = () => false,
): readonly Risk[] {
  return before === undefined ? [] : (modelOf(action).risks?.(action, before, able) ?? []);
}

/** The commits that an action takes. `before` must contain every index and metadata key that they would lose. */
export function commitsOf(
  action: Action,
  before: Table | undefined,
  able: (kind: ActionKind) => boolean,
): readonly Commit[] {
  const commits = before === undefined ? undefined : modelOf(action).commits?.(action, before, able);
  return commits ?? [{ action }];
}

/** The kinds of the calls that an action may consist of, whatever the table is like. */
export function kindsOf(action: Action): readonly ActionKind[] {
  const { needs = [action.kind] } = modelOf(action);
  return typeof needs === "function" ? needs(action) : needs;
}

/** The columns of its table that an action rewrites, so that the engine drops their indexes or metadata. */
export function rewrites(action: Action): ReadonlySet<string> {
  return modelOf(action).rewrites?.(action) ?? new Set();
}

/** Whether its commits depend on indexes or metadata of its table that no migration may have given it. */
export function dependsOnFound(action: Action): boolean {
  return rewrites(action).size > 0 || action.kind === "rebuildIndex";
}

/** The data that an action of one commit writes. */
export function writtenBy(action: Action, before: Table | undefined): WrittenData | undefined {
  return modelOf(action).writes?.(action, before ?? { columns: [] });
}

/** The values that an action gives to columns. */
export function givenBy(action: Action): readonly GivenValues[] {
  return modelOf(action).gives?.(action) ?? [];
}

/** What code of the project computes in an action of one commit. */
export function computedBy(action: Action): ComputedValues | undefined {
  return modelOf(action).computes?.(action);
}

/** How code of the project computes values or rows in an action of one commit. */
export function codeIn(action: Action): Computation | undefined {
  return computedBy(action)?.how ?? modelOf(action).populates?.(action);
}

/** The values that an action gives to this column, or to the column around this field. */
export function givenTo({ table, path }: ColumnRef, action: Action): GivenValues | undefined {
  return action.table === table ? givenBy(action).find((given) => isWithin(path, given.path)) : undefined;
}

/** The inverse of an action. */
export function invert(action: Action, before: Database): Inverse {
  return modelOf(action).invert(action, tableBefore(before, action));
}

/** Whether an action changes rows and not the schema, so that no snapshot shows whether it has run. */
export function changesRows(action: Action): boolean {
  const { changesRows: is } = modelOf(action);
  return typeof is === "function" ? is(action) : is === true;
}

/** Whether an action only reads, and fails if a condition does not hold. */
export function onlyReads(action: Action): boolean {
  return modelOf(action).onlyReads === true;
}

function modelOf(action: Action): ActionModel<Action> {
  // Each model accepts only its own action, which TypeScript can't infer through the lookup.
  return registry[action.kind] as unknown as ActionModel<Action>;
}
