/** Folds several actions on one table into one call with the same result. Pure. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { Action, ActionFor, AlterColumnsAction } from "../../actions/model/action.ts";
import type { Alteration } from "../../actions/model/alteration.ts";
import { describeAction, refAfter, tablesAfter } from "../../actions/apply-action.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { columnPaths, columnsWithin, findColumn, mayLookAlike, sameTable, type Table } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { planCommits } from "../commits/commits.ts";
import type { PlannedAction } from "../make-plan.ts";

/** The actions of a group on one table, in order. */
export interface TableActions {
  readonly table: string;
  /** Undefined if the group creates the table. */
  readonly before: Table | undefined;
  readonly after: Table | undefined;
  readonly actions: readonly Action[];
  /** The last of them as planned. */
  readonly last: PlannedAction;
  /** Where the columns from before are now, by their paths from before. */
  readonly moved: ReadonlyMap<string, Path>;
}

/** The actions with one more, or undefined if that action can't be part of a group. */
export function withAction(own: TableActions | undefined, planned: PlannedAction): TableActions | undefined {
  const { action } = planned;
  const { table } = action;
  const start = own ?? begin(planned);
  if (!mayJoin(action, start)) return undefined;
  const moved = new Map(
    [...start.moved].flatMap(([from, path]) => {
      const at = refAfter({ table, path }, action);
      return at === undefined ? [] : [[from, at.path] as const];
    }),
  );
  return { ...start, after: planned.after.get(table), actions: [...start.actions, action], last: planned, moved };
}

function begin(planned: PlannedAction): TableActions {
  const { table } = planned.action;
  const before = planned.before.get(table);
  const moved = new Map(columnPaths(before?.columns ?? []).map((path) => [formatPath(path), path]));
  return { table, before, after: before, actions: [], last: planned, moved };
}

/**
 * Whether an action can be part of a group. Only those can that neither fail because of rows nor read or write any: if
 * the run is killed, each table is then as before the group or as after it.
 */
function mayJoin(action: Action, { before, moved }: TableActions): boolean {
  switch (action.kind) {
    case "createTable":
      return before === undefined && (action.rows ?? []).length === 0;
    case "addColumns":
      return action.columns.every(({ as, computed }) => as === undefined && computed === undefined);
    case "alterColumns": {
      const old = new Set([...moved.values()].map(formatPath));
      return action.alterations.every(
        ({ path, type, nullable }) =>
          !old.has(formatPath(parsePath(path))) || (type === undefined && nullable !== false),
      );
    }
    default:
      return false;
  }
}

/**
 * The one action that does what these do, as planned; null if they change nothing together; undefined if there is none.
 */
export function foldActions(own: TableActions, capabilities: Capabilities): PlannedAction | null | undefined {
  const { table, before, after, last, actions } = own;
  const action = actions.length === 1 ? actions[0] : foldedAction(own);
  if (action === null) return sameEitherWay(before, after) ? null : undefined;
  if (action === undefined || !leadsTo(action, own)) return undefined;
  const tables = { before: new Map([[table, before]]), after: new Map([[table, after]]) };
  // The tables must show whether it has run.
  if (mayLookAlike(tables.before, tables.after)) return undefined;
  if (capabilities.refuses?.(action, before) !== undefined) return undefined;
  const commits = planCommits(action, tables.before, capabilities);
  if (commits.length > 1) return undefined;
  const { place } = last;
  const text = describeAction(action);
  return { place, action, text, risks: [], commits, ...tables, recordFirst: false, proof: undefined };
}

/** The candidate. Null if nothing is left to do. */
function foldedAction({ table, before, after, actions, moved }: TableActions): Action | null | undefined {
  if (after === undefined) return undefined;
  if (before === undefined) return foldedCreate(table, after);
  if (actions.every(isAlter)) return foldedAlter(table, before, after, moved);
  const columns = after.columns.slice(before.columns.length);
  return { kind: "addColumns", table, columns } satisfies ActionFor<"addColumns">;
}

function isAlter(action: Action): action is AlterColumnsAction {
  return action.kind === "alterColumns";
}

/** Schema metadata and computed columns name other columns, which may have been renamed since. */
function foldedCreate(table: string, { columns, metadata }: Table): Action | undefined {
  const isComputed = columnsWithin(columns).some(({ column }) => column.computed !== undefined);
  return isComputed || metadata !== undefined ? undefined : { kind: "createTable", table, columns };
}

function foldedAlter(table: string, before: Table, after: Table, moved: TableActions["moved"]): Action | null {
  const alterations = [...moved].flatMap(([path, now]): readonly Alteration[] => {
    const was = parsePath(path);
    const rename = now.at(-1) === was.at(-1) ? undefined : now.at(-1);
    const isMade =
      findColumn(after.columns, now)?.nullable === true && findColumn(before.columns, was)?.nullable === false;
    if (rename === undefined && !isMade) return [];
    return [{ path, ...(rename !== undefined && { rename }), ...(isMade && { nullable: true }) }];
  });
  return alterations.length === 0 ? null : { kind: "alterColumns", table, alterations };
}

/** Whether the action leaves the table, and each column with its values, exactly as the original ones do. */
function leadsTo(action: Action, { table, before, after, moved }: TableActions): boolean {
  const result = resultOf(action, before);
  const isSame = result !== undefined && sameEitherWay(result, after);
  return (
    isSame &&
    [...moved].every(([from, path]) => {
      const at = refAfter({ table, path: parsePath(from) }, action);
      return at !== undefined && formatPath(at.path) === formatPath(path);
    })
  );
}

/** Undefined if the action can't work. */
function resultOf(action: Action, before: Table | undefined): Table | undefined {
  const { table } = action;
  try {
    return tablesAfter(new Map(before === undefined ? [] : [[table, before]]), action).get(table);
  } catch (error) {
    if (isMigrateError(error)) return undefined;
    throw error;
  }
}

function sameEitherWay(one: Table | undefined, other: Table | undefined): boolean {
  return sameTable(one, other) && sameTable(other, one);
}
