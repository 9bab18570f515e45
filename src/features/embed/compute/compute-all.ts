/** Computes values in calls of a few rows each, several at a time, and passes results on as they come. */
import { count, firstLine } from "../../../errors/migrate-error.ts";
import { usual, type Computation } from "../../../actions/model/computation.ts";
import { formatType, isFloat, type Column, type DataType } from "../../../schema/data-type.ts";
import type { Clock } from "../../../time/clock.ts";
import { codeFailed, FillFailed } from "../calls/fill-failed.ts";
import type { KnownValues, RepeatedRows } from "../calls/known-values.ts";
import { holdsFloat, problemOfValue, type RowValue, type RowValues } from "../../../schema/row-values.ts";

/** A call that got no answer after several tries, or none because the run was stopped. Its rows may be fine. */
export class NoAnswer extends Error {}

/** What a call has returned. `cost`: what it has cost, if the code reports that. */
export interface Answered {
  readonly values: readonly unknown[];
  readonly cost?: (() => unknown) | undefined;
}

/** Calls code of the project: rows in, a value for each out. Throws NoAnswer, and FillFailed if the run may make no call. */
export type Compute = (rows: readonly RowValues[]) => Promise<readonly unknown[]>;

type RowOutcome = { readonly value: RowValue } | { readonly problem: string };

export type RowResult = { readonly row: RowValues } & RowOutcome;

/** What the code has computed for rows with equal sources. */
interface ComputedGroup {
  readonly group: RepeatedRows;
  readonly outcome: RowOutcome;
}

export interface Tally {
  /** How many rows have a value. */
  good: number;
  /** For how many rows the code failed. */
  bad: number;
  /** How many different sources these rows have. */
  badSources: number;
}

interface Calls {
  readonly tally: Tally;
  readonly compute: Compute;
  /** Keeps results. Called again only when it has ended, with what has been computed meanwhile. */
  readonly stage: (results: readonly RowResult[]) => Promise<void>;
  /** Rows with equal sources are computed once. Without it, each row is computed. */
  readonly known?: KnownValues | undefined;
  /** Tells which calls are so short that their results may be kept together. Without it, none is. */
  readonly clock?: Pick<Clock, "steady"> | undefined;
}

/** Milliseconds for which results of short calls are collected before they are kept. */
const moment = 25;

/** If rows with this many different sources fail and none succeeds, rows are not the cause. */
const mostFailed = 20;

/** Throws FillFailed when the calls that were under way have ended and their results are kept. */
export async function computeAll(
  rows: readonly RowValues[],
  { batch = usual.batch, concurrency = usual.concurrency, failedRows = "stop", from, key, with: code }: Computation,
  column: Column,
  { compute, stage, tally, known, clock }: Calls,
): Promise<void> {
  const groups = known?.grouped(rows) ?? rows.map((row) => ({ rows: [row], value: undefined, sources: "" }));
  const wanted = groups.filter(({ value }) => value === undefined);
  const waiting: RowResult[] = groups.flatMap((group) => resultsOf(group, group));
  tally.good += waiting.length;
  let next = 0;
  let problem: unknown;
  let staged = Promise.resolve();
  let following: Promise<void> | undefined;
  /** When the first call began whose results are waiting. */
  let since: number | undefined;

  /** Resolves when the results are kept. What is computed while others are being kept is kept together. */
  const keep = (): Promise<void> => (following ??= staged = staged.then(stageWaiting));
  const stageWaiting = async () => {
    following = undefined;
    since = undefined;
    const all = waiting.splice(0);
    if (all.length > 0) await stage(all).catch((error: unknown) => (problem ??= error));
  };
  const call = async (given: readonly RepeatedRows[]): Promise<readonly ComputedGroup[]> => {
    const values = await compute(given.map(({ rows: [row] }) => sourcesOf(row!, from)));
    if (values.length !== given.length)
      throw new Error(`it returned ${count(values.length, "value")} for ${count(given.length, "row")}`);
    return given.map((group, index) => {
      const outcome = checked(values[index], column);
      if ("value" in outcome) known?.add(group, outcome.value);
      return { group, outcome };
    });
  };
  const hasMore = () => next < wanted.length && problem === undefined;
  const work = async () => {
    let kept = Promise.resolve();
    let begun = 0;
    const settle = async (computed: readonly ComputedGroup[]) => {
      const results = computed.flatMap(({ group, outcome }) => resultsOf(group, outcome));
      const wrong = results.find((result) => "problem" in result);
      const right = results.filter((result) => "value" in result);
      tally.good += right.length;
      tally.bad += results.length - right.length;
      tally.badSources += computed.filter(({ outcome }) => "problem" in outcome).length;
      const stops = failedRows === "stop" || (tally.good === 0 && tally.badSources >= mostFailed);
      if (wrong !== undefined && stops) problem ??= errorOf(wrong.problem, wrong.row);
      since ??= begun;
      const isShort = clock !== undefined && clock.steady() - since < moment;
      // A run that is killed loses what is not kept yet: at most two calls for each that is made at a time, or short ones.
      if (!isShort) await kept;
      waiting.push(...(stops ? right : results));
      if (!isShort) kept = keep();
    };
    /** If a call fails, its rows are tried alone, so that one of them does not fail the others. */
    const attempt = async (given: readonly RepeatedRows[]): Promise<void> => {
      begun = clock?.steady() ?? 0;
      try {
        return await settle(await call(given));
      } catch (error) {
        if (error instanceof NoAnswer || error instanceof FillFailed) throw error;
        if (given.length === 1) return await settle([{ group: given[0]!, outcome: { problem: firstLine(error) } }]);
      }
      for (const one of given) if (problem === undefined) await attempt([one]);
    };
    while (hasMore())
      await attempt(wanted.slice(next, (next += batch))).catch(
        (error: unknown) => (problem ??= error instanceof FillFailed ? error : errorOf(firstLine(error))),
      );
  };
  const errorOf = (words: string, row?: RowValues) =>
    codeFailed(
      code,
      `${row === undefined ? "" : `, for the row whose ${key} is ${JSON.stringify(row[key])}`}: ${words}`,
    );
  await Promise.all(Array.from({ length: concurrency }, work));
  await keep();
  if (problem !== undefined) throw problem;
}

/** The same for each of the rows; none if there is no value yet. */
function resultsOf({ rows }: RepeatedRows, outcome: RowOutcome | { readonly value: undefined }): readonly RowResult[] {
  if ("problem" in outcome) return rows.map((row) => ({ row, problem: outcome.problem }));
  const { value } = outcome;
  return value === undefined ? [] : rows.map((row) => ({ row, value }));
}

function sourcesOf(row: RowValues, from: readonly string[]): RowValues {
  return Object.fromEntries(from.map((name) => [name, row[name] ?? null]));
}

function checked(returned: unknown, column: Column): RowOutcome {
  const value = isVector(column.type) ? returned : withoutBigInts(returned);
  const problem = problemIn(value, column);
  return problem === undefined ? { value: value as RowValue } : { problem };
}

function isVector(type: DataType): type is Extract<DataType, { kind: "fixedSizeList" }> {
  return type.kind === "fixedSizeList" && isFloat(type.item.type);
}

/** Rows of migrations have text for integers that a number can't represent. */
function withoutBigInts(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof BigInt64Array || value instanceof BigUint64Array) return Array.from(value, String);
  if (Array.isArray(value)) return value.map(withoutBigInts);
  const isStruct = typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
  if (!isStruct) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutBigInts(one)]));
}

/** Why a value doesn't fit the column, as text. */
function problemIn(value: unknown, column: Column): string | undefined {
  if (value === null) return undefined;
  if (value === undefined) return "it returned undefined for a row";
  const { type } = column;
  if (!isVector(type)) return problemOfValue(value as RowValue, column);
  const items = value as ArrayLike<unknown>;
  if (!Array.isArray(value) && !ArrayBuffer.isView(value))
    return `it returned a value that is no vector for ${formatType(type)}`;
  if (items.length !== type.length) return `it returned a vector of ${items.length} numbers for ${formatType(type)}`;
  const wrong = wrongFloat(items, type.item.type);
  return wrong === undefined ? undefined : `it returned a vector with ${String(items[wrong])}`;
}

/** The place of the first item that the type does not hold. There may be a billion items in all. */
function wrongFloat(items: ArrayLike<unknown>, type: DataType): number | undefined {
  if (items instanceof Float32Array && type.kind !== "float16") {
    // Only of finite numbers.
    for (let at = 0; at < items.length; at++) if (items[at]! - items[at]! !== 0) return at;
    return undefined;
  }
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    if (typeof item !== "number" || !holdsFloat(item, type)) return at;
  }
  return undefined;
}
