/**
 * The parts of an action that can be tried before anything is changed: on a copy of its table, or on an empty table
 * with the same columns. Pure.
 */
import type { Action, AddedColumn } from "../../actions/model/action.ts";
import { childColumns, type Column } from "../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { isNull } from "../../actions/model/risk.ts";
import type { Database, Table } from "../../schema/table.ts";
import { askOf } from "./row-questions.ts";
import { placeAfter, restOf } from "../compile/track-column.ts";
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
  return { table: askOf({ kind: "rows", table, own: 0 }, earlier, now)?.table, path };
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
  const way: readonly Action[] = [...earlier, action];
  for (const [table, { columns }] of now) {
    let at: string | undefined = table;
    const left = new Map(allPaths(columns).map((path) => [formatPath(path), path as Path | undefined]));
    for (const one of way) {
      if (at === undefined || one.table !== at) continue;
      if (one !== action && !keepsFiles(one)) return undefined;
      for (const [path, there] of left) left.set(path, there && placeAfter({ table: at, path: there }, one)?.path);
      at = placeAfter({ table: at, path: [] }, one)?.table;
    }
    if (at !== action.table) continue;
    const gone = [...left].flatMap(([path, there]) => (there === undefined ? [path] : []));
    const paths = gone.filter((path) => !gone.some((other) => isAround(other, path)));
    return paths.length === 0 ? undefined : { table, paths };
  }
  return undefined;
}

function isAround(outer: string, inner: string): boolean {
  return outer !== inner && restOf(parsePath(inner), parsePath(outer)) !== undefined;
}

/** Whether existing rows stay in the same files, and no file gets more columns. */
function keepsFiles(action: Action): boolean {
  if (action.kind === "addColumns") return action.columns.every(({ as = "null" }) => isNull(as));
  if (action.kind === "alterColumns") return action.alterations.every(({ type }) => type === undefined);
  return ["dropColumns", "renameTable", "createIndex", "dropIndex", "setMetadata", "insertRows"].includes(action.kind);
}

/** The paths of all columns and fields at any depth, also inside lists. */
function allPaths(columns: readonly Column[], parent: Path = []): readonly Path[] {
  return columns.flatMap(({ name, type }) => [[...parent, name], ...allPaths(childColumns(type), [...parent, name])]);
}
