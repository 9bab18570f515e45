/** What actions cost: the data that they write, and the versions of tables that they make. Pure. */
import { tablesAfter, writtenBy, type Action } from "../schema/action.ts";
import type { Column } from "../schema/data-type.ts";
import { change, databaseOf, type Table, type Tables } from "../schema/table.ts";
import { sum, widthOf } from "../schema/width.ts";
import type { PlannedCommit } from "./commits.ts";
import type { PlannedAction } from "./plan.ts";

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

/** A table's rows, and the bytes of its files; undefined where the target does not tell. */
export interface Size {
  readonly rows: number | undefined;
  readonly bytes: number | undefined;
}

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
  where?: number,
): Cost {
  return total(
    commits.map(({ action, before }) => costOfCommit(action, before.get(action.table), sizes.get(action.table), where)),
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

function costOfCommit(action: Action, before: Table | undefined, size: Size | undefined, where?: number): Cost {
  const one = { ...nothing, versions: action.kind === "dropTable" ? 0 : 1 };
  const written = writtenBy(action, before);
  if (written === undefined) return one;
  if ("index" in written) return { ...one, indexes: [written.index] };
  if ("rows" in written) return { ...one, added: written.rows ?? null };
  const rows = (written.where === undefined ? undefined : where) ?? size?.rows;
  if (rows === undefined) return { ...one, rows: null, bytes: null };
  return { ...one, rows, bytes: bytesOf(written.columns, rows, before?.columns ?? [], size) };
}

/** Texts and lists are taken to be as long as they are on average in the table's files. */
function bytesOf(
  columns: readonly Column[],
  rows: number,
  all: readonly Column[],
  size: Size | undefined,
): number | null {
  const { fixed, variable } = widthOfAll(columns);
  if (variable === 0 || rows === 0) return Math.round(fixed * rows);
  const whole = widthOfAll(all);
  if (size?.bytes === undefined || size.rows === undefined || size.rows === 0) return null;
  const average = Math.max(0, size.bytes / size.rows - whole.fixed) / Math.max(1, whole.variable);
  return Math.round((fixed + average * variable) * rows);
}

function widthOfAll(columns: readonly Column[]) {
  return sum(columns.map(({ type }) => widthOf(type)));
}

/** Carries the sizes on to what they are after an action, as far as can be told. */
export function carrySizes(after: Map<string, Size>, action: Action): void {
  const own = after.get(action.table);
  const rows = (more: number) => (own?.rows === undefined ? undefined : own.rows + more);
  switch (action.kind) {
    case "createTable":
      after.set(action.table, { rows: action.rows?.length ?? 0, bytes: lengthOf(action.rows ?? []) });
      return;
    case "insertRows":
      after.set(action.table, {
        rows: rows(action.rows.length),
        bytes: own?.bytes === undefined ? undefined : own.bytes + lengthOf(action.rows),
      });
      return;
    case "putBackRows":
    case "restoreTable":
      after.set(action.table, { rows: undefined, bytes: undefined });
      return;
    case "renameTable":
      after.delete(action.table);
      if (own !== undefined) after.set(action.name, own);
      return;
    case "dropTable":
      after.delete(action.table);
  }
}

/** About how many bytes rows of a file take. */
function lengthOf(rows: readonly unknown[]): number {
  return rows.length === 0 ? 0 : JSON.stringify(rows).length;
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
