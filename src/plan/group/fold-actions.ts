/** Folds several actions on one table into one call with the same result. Pure. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { Action, AlterColumnsAction } from "../../actions/model/action.ts";
import { currentPath, newNames, type Alteration } from "../../actions/model/alteration.ts";
import { describeAction, tablesAfter } from "../../actions/apply-action.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { columnPaths, columnsWithin, mayLookAlike, sameTable, type Table } from "../../schema/table.ts";
import type { Column } from "../../schema/data-type.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { planCommits } from "../commits/commits.ts";
import type { PlannedAction } from "../make-plan.ts";

/** The actions of a group on one table. */
export interface TableActions {
  readonly table: string;
  /** Undefined if the group creates the table. */
  readonly before: Table | undefined;
  readonly after: Table | undefined;
  /** What kind of call they fold into. */
  readonly kind: "createTable" | "addColumns" | "alterColumns";
  /** Where the columns from before are now, by their paths from before. */
  readonly moved: ReadonlyMap<string, Path>;
  /** The action itself, if there is only one. */
  readonly only: Action | undefined;
  readonly last: PlannedAction;
}

/** The actions with one more; undefined if that action can't be part of a group, or needs another call. */
export function withAction(own: TableActions | undefined, planned: PlannedAction): TableActions | undefined {
  const { action } = planned;
  const { table } = action;
  const before = own === undefined ? planned.before.get(table) : own.before;
  const moved = own?.moved ?? originsOf(before);
  const kind = kindWith(own?.kind, action, before, moved);
  if (kind === undefined) return undefined;
  const only = own === undefined ? action : undefined;
  return { table, before, after: planned.after.get(table), kind, moved: movedBy(action, moved), only, last: planned };
}

function originsOf(before: Table | undefined): ReadonlyMap<string, Path> {
  return new Map(columnPaths(before?.columns ?? []).map((path) => [formatPath(path), path]));
}

function movedBy(action: Action, moved: ReadonlyMap<string, Path>): ReadonlyMap<string, Path> {
  if (action.kind !== "alterColumns") return moved;
  const names = newNames(action.alterations);
  return names.size === 0 ? moved : new Map([...moved].map(([from, path]) => [from, currentPath(path, names)]));
}

/**
 * The kind of call that the actions fold into. Only actions count that neither fail because of rows nor read or write any:
 * if the run is killed, the table is then as before the group or as after it.
 */
function kindWith(
  kind: TableActions["kind"] | undefined,
  action: Action,
  before: Table | undefined,
  moved: ReadonlyMap<string, Path>,
): TableActions["kind"] | undefined {
  switch (action.kind) {
    case "createTable":
      return before === undefined && (action.rows ?? []).length === 0 ? "createTable" : undefined;
    case "addColumns":
      if (action.columns.some(({ as, computed }) => as !== undefined || computed !== undefined)) return undefined;
      return before === undefined ? kind : kind === "alterColumns" ? undefined : "addColumns";
    case "alterColumns":
      if (before === undefined) return kind;
      return kindOfAlterations(action, moved) === (kind ?? "alterColumns") ? (kind ?? "alterColumns") : undefined;
    default:
      return undefined;
  }
}

/** Columns from before may only get names and become nullable. Undefined if there are both old and new columns. */
function kindOfAlterations(
  { alterations }: AlterColumnsAction,
  moved: ReadonlyMap<string, Path>,
): "addColumns" | "alterColumns" | undefined {
  const old = new Set([...moved.values()].map(([name]) => name));
  const areOld = alterations.map(({ path }) => old.has(parsePath(path)[0]!));
  if (areOld.every((is) => !is)) return "addColumns";
  const isAllowed = alterations.every(({ type, nullable }) => type === undefined && nullable !== false);
  return isAllowed && areOld.every((is) => is) ? "alterColumns" : undefined;
}

/** The call, as planned; null if nothing changes; undefined if no one call is known to have the same result. */
export function foldActions(own: TableActions, capabilities: Capabilities): PlannedAction | null | undefined {
  const { table, before, after, last } = own;
  const action = own.only ?? foldedAction(own);
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

/** The candidate; null if nothing is left to do. */
function foldedAction({ table, before, after, kind, moved }: TableActions): Action | null | undefined {
  if (after === undefined) return undefined;
  if (before === undefined) return foldedCreate(table, after);
  if (kind === "alterColumns") return foldedAlter(table, before, after, moved);
  return { kind: "addColumns", table, columns: after.columns.slice(before.columns.length) };
}

/** Schema metadata and computed columns name other columns, which may have been renamed since. */
function foldedCreate(table: string, { columns, metadata }: Table): Action | undefined {
  const isComputed = columnsWithin(columns).some(({ column }) => column.computed !== undefined);
  return isComputed || metadata !== undefined ? undefined : { kind: "createTable", table, columns };
}

function foldedAlter(table: string, before: Table, after: Table, moved: TableActions["moved"]): Action | null {
  const [old, now] = [before, after].map(({ columns }) => byPath(columns));
  const alterations = [...moved].flatMap(([path, at]): readonly Alteration[] => {
    const name = at.at(-1)!;
    const rename = name === parsePath(path).at(-1) ? undefined : name;
    const isMade = old!.get(path)?.nullable === false && now!.get(formatPath(at))?.nullable === true;
    if (rename === undefined && !isMade) return [];
    return [{ path, ...(rename !== undefined && { rename }), ...(isMade && { nullable: true }) }];
  });
  return alterations.length === 0 ? null : { kind: "alterColumns", table, alterations };
}

function byPath(columns: readonly Column[]): ReadonlyMap<string, Column> {
  return new Map(columnsWithin(columns).map(({ path, column }) => [formatPath(path), column]));
}

/** Whether the action leaves the table, and each column with its values, exactly as the original ones do. */
function leadsTo(action: Action, { before, after, moved }: TableActions): boolean {
  const result = resultOf(action, before);
  if (result === undefined || !sameEitherWay(result, after)) return false;
  const there = movedBy(action, originsOf(before));
  return [...moved].every(([from, path]) => formatPath(there.get(from)!) === formatPath(path));
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
