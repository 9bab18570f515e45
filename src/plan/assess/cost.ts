/** The cost of actions: the data that they write and the table versions that they make. Pure. */
import { z } from "zod";
import type { Action } from "../../actions/model/action.ts";
import { computationSql, usual, type Computation } from "../../actions/model/computation.ts";
import { codeIn, writtenBy } from "../../actions/apply-action.ts";
import type { Column } from "../../schema/data-type.ts";
import type { Table } from "../../schema/table.ts";
import { widthOf } from "../../schema/type-width.ts";
import type { PlannedCommit } from "../commits/commits.ts";
import type { PlannedAction } from "../make-plan.ts";

const whole = z.int().min(0);

const computedShape = z
  .object({
    rows: whole.nullable().describe("Rows whose values code of the project computes; null if unknown."),
    calls: whole.nullable().describe("About how many calls that takes; null if unknown."),
    price: z
      .number()
      .min(0)
      .nullable()
      .optional()
      .describe("What the rows cost at the stated price; null if unknown, absent without a price."),
    seconds: whole
      .nullable()
      .optional()
      .describe("How long it takes at least, because of `callsPerMinute`; null if unknown, absent without that limit."),
  })
  .meta({ id: "computed" });

export type ComputedCost = z.output<typeof computedShape>;

/** Published as part of the plan's document. */
export const costShape = z
  .object({
    rows: whole.nullable().describe("Rows in which values are rewritten; null if unknown."),
    bytes: whole.nullable().describe("About how many bytes that is before it is compressed; null if unknown."),
    added: whole.nullable().describe("Rows that are added; null if unknown."),
    indexes: z.array(z.string()).describe("Indexes that are built over all rows."),
    versions: whole.describe("Versions of tables that it makes."),
    computed: computedShape.optional().describe("Absent if no code of the project runs."),
  })
  .meta({ id: "cost" });

export type Cost = z.output<typeof costShape>;

export const nothing: Cost = { rows: 0, bytes: 0, added: 0, indexes: [], versions: 0 };

/** The size of a table. `rows` is undefined if the target does not report it. */
export interface Size {
  readonly rows: number | undefined;
  /** Rows in its files, with those that were deleted: the engine rewrites these too. Absent if unknown. */
  readonly stored?: number | undefined;
  /** If the plan itself creates the rows: the mean length of a row in bytes. */
  readonly rowBytes?: number | undefined;
}

/**
 * The mean size of a value in bytes, for columns of variable length, by the name that the column has when it is
 * written.
 */
export type Widths = ReadonlyMap<string, number>;

/** The sizes of tables, by their names at one point of a plan. */
export type Sizes = ReadonlyMap<string, Size>;

/** The estimate for actions that run one after another. */
export interface Estimate {
  /** One for each commit. */
  readonly calls: string[];
  readonly cost: Cost;
}

export interface ActionEstimate extends Estimate {
  /** For each of its risks: how many rows it affects now; undefined if unknown. */
  readonly rows: readonly (number | undefined)[];
  /** The estimate for its own rollback, if it has one. Without calls if an old version is restored. */
  readonly back: Estimate | undefined;
}

/** The estimates by the actions of the plan. */
export type Survey = ReadonlyMap<PlannedAction, ActionEstimate>;

/**
 * `where`: how many rows match the condition of an update, if they were counted, how many code computes, or how many are
 * reinserted; null if that is unknown.
 */
export function costOf(
  commits: readonly Pick<PlannedCommit, "action" | "before">[],
  sizes: Sizes,
  widths: Widths,
  where?: number | null,
): Cost {
  return total(
    commits.map(({ action, before }) =>
      costOfCommit(action, before.get(action.table), sizes.get(action.table), widths, where),
    ),
  );
}

/** The total for commits of one action. Rows that are rewritten several times count once. */
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
    ...totalComputed(costs.flatMap(({ computed = [] }) => computed)),
  };
}

function totalComputed(costs: readonly ComputedCost[]): Pick<Cost, "computed"> {
  if (costs.length === 0) return {};
  const isPriced = costs.some(({ price }) => price !== undefined);
  const limited = costs.flatMap(({ seconds }) => (seconds === undefined ? [] : [seconds]));
  return {
    computed: {
      rows: added(costs.map(({ rows }) => rows)),
      calls: added(costs.map(({ calls }) => calls)),
      ...(isPriced && { price: added(costs.map(({ price = null }) => price)) }),
      ...(limited.length > 0 && { seconds: added(limited) }),
    },
  };
}

/** The total for several tables, or for actions that run one after another. */
export function totalOf(costs: readonly Cost[]): Cost {
  return total(costs, added);
}

function most(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((all, one) => (all === null || one === null ? null : Math.max(all, one)), 0);
}

function added(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((all, one) => (all === null || one === null ? null : all + one), 0);
}

/**
 * A refresh makes two versions: one for the values, one for what the engine records about them. To optimize a table
 * takes two for its files and one for its indexes, or fewer.
 */
function versionsOf({ kind }: Action): number {
  const versions: Partial<Record<Action["kind"], number>> = { dropTable: 0, refreshColumn: 2, optimizeTable: 3 };
  return versions[kind] ?? 1;
}

function costOfCommit(
  action: Action,
  before: Table | undefined,
  size: Size | undefined,
  widths: Widths,
  where?: number | null,
): Cost {
  const one = { ...nothing, versions: versionsOf(action) };
  // How many files it merges shows only then.
  if (action.kind === "optimizeTable") return { ...one, rows: null, bytes: null };
  const written = writtenBy(action, before);
  if (written === undefined) return one;
  if ("index" in written) return { ...one, indexes: [written.index] };
  const how = codeIn(action);
  if (action.kind === "populateTable") return { ...one, added: null, computed: computedCost(how!, where ?? null) };
  if ("rows" in written) return { ...one, added: written.rows ?? where ?? null };
  const all = written.where === undefined && how === undefined;
  const rows = (all || where === undefined ? size?.rows : where) ?? null;
  // An update writes the rows that it changes, and every other rewrite whole files.
  const stored = all && action.kind !== "updateRows" ? (size?.stored ?? rows) : rows;
  const rewritten = {
    ...one,
    rows,
    bytes: stored === null ? null : bytesOf(written.columns, stored, widths, size?.rowBytes),
  };
  // SQL costs no calls.
  if (how === undefined || computationSql(how) !== undefined) return rewritten;
  return { ...rewritten, computed: computedCost(how, rows) };
}

/** Each page of rows ends with a call of fewer rows, which is not counted. */
function computedCost(
  { batch = usual.batch, pricePer1000Rows, callsPerMinute }: Computation,
  rows: number | null,
): ComputedCost {
  const calls = rows === null ? null : Math.ceil(rows / batch);
  return {
    rows,
    calls,
    ...(pricePer1000Rows !== undefined && { price: rows === null ? null : rounded((rows / 1_000) * pricePer1000Rows) }),
    ...(callsPerMinute !== undefined && {
      seconds: calls === null ? null : Math.ceil((Math.max(0, calls - 1) * 60) / callsPerMinute),
    }),
  };
}

/** Without the digits that computing with fractions adds. */
function rounded(price: number): number {
  return Number(price.toPrecision(12));
}

/** Null if a column of variable length has neither a sampled width nor `rowBytes`. */
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

/** Updates the sizes to those after an action, as far as they are known. */
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
        stored: own?.stored === undefined ? undefined : own.stored + action.rows.length,
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

/** The approximate size in bytes of a row that a migration file contains. */
function lengthOf(rows: readonly unknown[] = []): number | undefined {
  return rows.length === 0 ? undefined : JSON.stringify(rows).length / rows.length;
}
