/** What actions cost: the data that they write, and the versions of tables that they make. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { tablesAfter, writtenBy } from "../../actions/apply-action.ts";
import type { Column } from "../../schema/data-type.ts";
import { change, databaseOf, type Table, type Tables } from "../../schema/table.ts";
import { widthOf } from "../../schema/type-width.ts";
import type { PlannedCommit } from "../commits/commits.ts";
import type { PlannedAction } from "../make-plan.ts";

export interface Cost {
  /** Rows in which values are written anew; null where nobody can tell how many. */
  readonly rows: number | null;
  /** About how many bytes that is before it is compressed; null where nobody can tell. */
  readonly bytes: number | null;
  /** Rows that are added; null where nobody can tell how many. */
  readonly added: number | null;
  /** Indexes that are built over all rows. */
  readonly indexes: readonly string[];
  /** Versions of tables that it makes. */
  readonly versions: number;
}

export const nothing: Cost = { rows: 0, bytes: 0, added: 0, indexes: [], versions: 0 };

/** A table's rows; undefined where the target does not tell. */
export interface Size {
  readonly rows: number | undefined;
  /** Where the plan itself creates the table with rows: how long one is, on average. */
  readonly rowBytes?: number | undefined;
}

/** The mean bytes of the values of columns of variable length, by the names that these have when they are written. */
export type Widths = ReadonlyMap<string, number>;

/** The sizes of tables, by their names at some point of a plan. */
export type Sizes = ReadonlyMap<string, Size>;

/** Of actions that are carried out one after the other. */
export interface Estimate {
  /** Each is one commit. */
  readonly calls: readonly string[];
  readonly cost: Cost;
}

export interface ActionEstimate extends Estimate {
  /** For each of its risks: how many rows it is about now; undefined where nobody can tell. */
  readonly rows: readonly (number | undefined)[];
  /** What takes it back, where other actions do. */
  readonly back: Estimate | undefined;
}

/** By the actions of the plan. */
export type Survey = ReadonlyMap<PlannedAction, ActionEstimate>;

/** `where`: how many rows an update is about, where that was counted. */
export function costOf(
  commits: readonly Pick<PlannedCommit, "action" | "before">[],
  sizes: Sizes,
  widths: Widths,
  where?: number,
): Cost {
  return total(
    commits.map(({ action, before }) =>
      costOfCommit(action, before.get(action.table), sizes.get(action.table), widths, where),
    ),
  );
}

/** Rows that are written anew several times count once: it is the same table. */
export function total(
  costs: readonly Cost[],
  rowsOf: (rows: readonly (number | null)[]) => number | null = most,
): Cost {
  return {
    rows: rowsOf(costs.map(({ rows }) => rows)),
    bytes: added(costs.map(({ bytes }) => bytes)),
    added: added(costs.map((one) => one.added)),
    indexes: costs.flatMap(({ indexes }) => indexes),
    versions: costs.reduce((all, { versions }) => all + versions, 0),
  };
}

/** Of several tables, or of one after another. */
export function totalOf(costs: readonly Cost[]): Cost {
  return total(costs, added);
}

function most(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((all, one) => (all === null || one === null ? null : Math.max(all, one)), 0);
}

function added(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((all, one) => (all === null || one === null ? null : all + one), 0);
}

/** A refresh of all rows takes two, one for the values and one for what the engine notes of them. */
function versionsOf({ kind }: Action): number {
  return kind === "dropTable" ? 0 : kind === "refreshColumn" ? 2 : 1;
}

function costOfCommit(
  action: Action,
  before: Table | undefined,
  size: Size | undefined,
  widths: Widths,
  where?: number,
): Cost {
  const one = { ...nothing, versions: versionsOf(action) };
  const written = writtenBy(action, before);
  if (written === undefined) return one;
  if ("index" in written) return { ...one, indexes: [written.index] };
  if ("rows" in written) return { ...one, added: written.rows ?? null };
  const rows = (written.where === undefined ? undefined : where) ?? size?.rows;
  if (rows === undefined) return { ...one, rows: null, bytes: null };
  return { ...one, rows, bytes: bytesOf(written.columns, rows, widths, size?.rowBytes) };
}

/** Null where a column's values are of variable length and were not sampled. */
function bytesOf(
  columns: readonly Column[],
  rows: number,
  widths: Widths,
  rowBytes: number | undefined,
): number | null {
  if (rows === 0) return 0;
  const perRow = columns.map(({ name, type }) => {
    const { fixed, variable } = widthOf(type);
    return variable === 0 ? fixed : (widths.get(name) ?? rowBytes ?? null);
  });
  const sum = added(perRow);
  return sum === null ? null : Math.round(sum * rows);
}

/** Carries the sizes on to what they are after an action, as far as can be told. */
export function carrySizes(after: Map<string, Size>, action: Action): void {
  const own = after.get(action.table);
  const rows = (more: number) => (own?.rows === undefined ? undefined : own.rows + more);
  switch (action.kind) {
    case "createTable":
      after.set(action.table, { rows: action.rows?.length ?? 0, rowBytes: lengthOf(action.rows) });
      return;
    case "insertRows":
      after.set(action.table, {
        rows: rows(action.rows.length),
        rowBytes: own?.rows === 0 ? lengthOf(action.rows) : own?.rowBytes,
      });
      return;
    case "putBackRows":
    case "restoreTable":
      after.set(action.table, { rows: undefined });
      return;
    case "renameTable":
      after.delete(action.table);
      if (own !== undefined) after.set(action.name, own);
      return;
    case "dropTable":
      after.delete(action.table);
  }
}

/** About how many bytes a row of a file takes. */
function lengthOf(rows: readonly unknown[] = []): number | undefined {
  return rows.length === 0 ? undefined : JSON.stringify(rows).length / rows.length;
}

/** Actions one after the other, with the tables before each. */
export function inTurn(actions: readonly Action[], before: Tables): readonly { action: Action; before: Tables }[] {
  const database = databaseOf(before);
  return actions.map((action) => {
    const now: Tables = new Map(database);
    change(database, tablesAfter(database, action));
    return { action, before: now };
  });
}
