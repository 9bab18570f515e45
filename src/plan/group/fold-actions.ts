/** Folds several actions on one table into one call with the same result. Pure. */
import type { Action, AlterColumnsAction } from "../../actions/model/action.ts";
import { currentPath, newNames, type Alteration } from "../../actions/model/alteration.ts";
import { describeAction, resultOf } from "../../actions/apply-action.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { columnPaths, columnsWithin, sameTable, type Table } from "../../schema/table.ts";
import type { Column } from "../../schema/data-type.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { planCommits } from "../commits/commits.ts";
import type { PlannedAction } from "../make-plan.ts";

/** The actions of a group on one table. */
export interface TableActions {
  readonly table: string;
  /** Undefined if the group creates the table. */
  readonly before: Table | undefined;
  readonly after: Table;
  /** Whether they change columns that the group adds, or those from before. A table that it creates has only new ones. */
  readonly columns: "new" | "old";
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
  const columns = columnsChangedBy(action, moved);
  if (columns === undefined || columns !== (own?.columns ?? columns)) return undefined;
  const only = own === undefined ? action : undefined;
  // No action of a group drops or renames its table.
  const after = planned.after.get(table)!;
  return { table, before, after, columns, moved: movedBy(action, moved), only, last: planned };
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
 * Which columns the action changes; undefined if it can't be part of a group. Only actions can that neither fail because of
 * rows nor read or write any: if the run is killed, the table is then as before the group or as after it.
 */
function columnsChangedBy(action: Action, moved: ReadonlyMap<string, Path>): TableActions["columns"] | undefined {
  switch (action.kind) {
    case "createTable":
      return (action.rows ?? []).length === 0 ? "new" : undefined;
    case "addColumns":
      return action.columns.every(({ as, computed }) => as === undefined && computed === undefined) ? "new" : undefined;
    case "alterColumns":
      return columnsAltered(action, moved);
    default:
      return undefined;
  }
}

/** Columns from before may only get names and become nullable. An action that alters new columns too counts as "old". */
function columnsAltered(
  { alterations }: AlterColumnsAction,
  moved: ReadonlyMap<string, Path>,
): TableActions["columns"] | undefined {
  const old = new Set([...moved.values()].map(([name]) => name));
  if (alterations.every(({ path }) => !old.has(parsePath(path)[0]!))) return "new";
  return alterations.every(({ type, nullable }) => type === undefined && nullable !== false) ? "old" : undefined;
}

/** The call, as planned; null if nothing changes; undefined if no one call is known to have the same result. */
export function foldActions(own: TableActions, capabilities: Capabilities): PlannedAction | null | undefined {
  const { table, before, after, last } = own;
  const action = own.only ?? foldedAction(own);
  if (action === undefined || !leadsTo(action, own)) return undefined;
  if (action === null) return null;
  if (capabilities.refuses?.(action, before) !== undefined) return undefined;
  const tables = { before: new Map([[table, before]]), after: new Map([[table, after]]) };
  const commits = planCommits(action, tables.before, capabilities);
  const { place } = last;
  const text = describeAction(action);
  return { place, action, text, risks: [], commits, ...tables, recordFirst: false, proof: undefined };
}

/** The candidate; null if nothing is left to do. */
function foldedAction({ table, before, after, columns, moved }: TableActions): Action | null | undefined {
  if (before === undefined) return foldedCreate(table, after);
  if (columns === "old") return foldedAlter(table, before, after, moved);
  return { kind: "addColumns", table, columns: after.columns.slice(before.columns.length) };
}

/** Schema metadata may name columns, which may have been renamed since. */
function foldedCreate(table: string, { columns, metadata }: Table): Action | undefined {
  return metadata === undefined ? { kind: "createTable", table, columns } : undefined;
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
function leadsTo(action: Action | null, { before, after, moved }: TableActions): boolean {
  const result = action === null ? before : resultOf(action, before);
  if (!sameTable(result, after)) return false;
  const origins = originsOf(before);
  const there = action === null ? origins : movedBy(action, origins);
  return [...moved].every(([from, path]) => formatPath(there.get(from)!) === formatPath(path));
}
