/**
 * Computes the values of a column, page by page. What was computed is first appended to a staging table, call by call,
 * and then merged into the column at the end of the page: many small merges would scatter the rows of the table over
 * many files. A run that is killed loses only the calls that were under way.
 */
import { count } from "../../../errors/migrate-error.ts";
import type { FillColumnAction } from "../../../actions/model/action.ts";
import { isPrepared } from "../../../actions/rewrite/prepared-columns.ts";
import { isPending } from "../../../actions/rewrite/source-marks.ts";
import { hasFailed, computedCondition, isCurrent } from "../calls/mark-conditions.ts";
import { sameColumns } from "../../../schema/data-type.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { sqlPath } from "../../../schema/sql.ts";
import type { Table } from "../../../schema/table.ts";
import { rowsOfOtherCode } from "../calls/edited-code.ts";
import { Computing } from "../compute/computing.ts";
import type { FillContext, Filled } from "../compute/fill-context.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import {
  addressesOf,
  clearLeft,
  keysIn,
  mostKeys,
  rowsOfPage,
  stillPending,
  type Seen,
} from "../compute/found-rows.ts";
import { addressColumn, addressOf, cutFragments, fragmentsIn, inRange, spanOf } from "../compute/results.ts";
import { inShard } from "../compute/shard.ts";
import { ValueMerger } from "./merge-values.ts";
import { mayBeStale, StaleKeys } from "./stale-rows.ts";

/** How often rows are looked for that were written while others were computed. */
const mostCatchUps = 10;

/** How many pages may follow each other of which no row could be merged: applications changed all of them meanwhile. */
const mostVain = 5;

/** If no more rows lack a value, their results are looked for by their keys. */
const mostSought = 5_000;

/**
 * How often a page is merged; a merge that leaves rows to a new look is not counted. The last time, the engine reads the
 * column in every row to see which have no value.
 */
const mostMerges = 3;

export async function fillColumn(action: FillColumnAction, table: Table, context: FillContext): Promise<Filled> {
  const fill = new Fill(action, table, context);
  return await filled(fill, context).catch((error: unknown) => {
    throw error instanceof FillFailed ? Object.assign(error, { merges: fill.merges }) : error;
  });
}

async function filled(fill: Fill, context: FillContext): Promise<Filled> {
  for (const results of context.results ?? []) await fill.mergeResults(results);
  for (const staged of context.staged) await fill.mergeStaged(staged);
  if (context.keepsFailed !== true) await fill.retryFailed();
  await fill.checkCode();
  let isComplete = await catchUp(fill, context);
  if (context.pause !== undefined) {
    await context.pause();
    isComplete = await catchUp(fill, context);
  }
  const problem = await fill.problem(isComplete, await fill.clearLeft());
  return { merges: fill.merges, problem };
}

/** Whether no row was left. An application may change rows all the time. */
async function catchUp(fill: Fill, { phases, phase = "computing" }: FillContext): Promise<boolean> {
  await phases.enter(phase);
  for (let looks = 0; looks <= mostCatchUps;) {
    const isFull = await fill.page();
    if (isFull === undefined) return true;
    if (!isFull) looks++;
  }
  return false;
}

class Fill {
  readonly #action: FillColumnAction;
  readonly #context: FillContext;
  readonly #merger: ValueMerger;
  readonly #computing: Computing;
  readonly #pending: string;
  readonly #stale: StaleKeys | undefined;
  #vain = 0;
  /** Versions that are no merges. */
  #others = 0;

  constructor(action: FillColumnAction, { columns }: Table, context: FillContext) {
    this.#action = action;
    this.#context = context;
    this.#merger = new ValueMerger(context);
    if (context.inUse === true) this.#stale = new StaleKeys(action, columns, context);
    const ofOtherCode = async (hash: string) => await rowsOfOtherCode(action, hash, context.rows);
    this.#computing = new Computing(action, columns, context, ofOtherCode);
    this.#pending =
      context.inUse === true ? mayBeStale(action) : this.#ours(isPending(action, this.#computing.column.name));
  }

  /** How many versions of the table that made. */
  get merges(): number {
    return this.#merger.commits + this.#others;
  }

  /** Merges what an earlier run has computed and not merged. */
  async mergeStaged(staging: string): Promise<void> {
    const { rows } = this.#context;
    const wanted = this.#computing.columns;
    const columns = await rows.columns(staging);
    if (columns === undefined) return;
    // Another column of that name, or what a killed run has left of a drop, can't be merged.
    const select = wanted.map(({ name }) => [name, sqlPath([name])] as const);
    const staged = sameColumns(columns, wanted) ? await rows.read(staging, { select }) : [];
    if (staged.length > 0) await this.#context.phases.enter("merging", staged.length);
    await this.#mergeOnce(staged);
    await this.#drop(staging);
  }

  /** Merges what was computed before the column was there, and drops the table of it. */
  async mergeResults(results: string): Promise<void> {
    const { rows, phases } = this.#context;
    const { key, column, columns } = this.#computing;
    const select = [...columns, addressColumn].map(({ name }) => [name, sqlPath([name])] as const);
    let merged = 0;
    const mergeAll = async (page: readonly RowValues[]) => {
      // Of two results for a row, the one that was computed later is merged.
      await this.#mergeOnce(page.toSorted((one, other) => addressOf(one) - addressOf(other)));
      phases.reached((merged += page.length));
    };
    const wanted = { select: [[key.name, sqlPath([key.name])]], where: this.#pending, limit: mostSought + 1 } as const;
    const pending = await rows.read(this.#action.table, wanted);
    // Most of them may have been loaded, and each merge reads the whole table.
    const isFew = pending.length <= mostSought;
    await phases.enter("merging", isFew ? pending.length : await this.#context.count?.(this.#pending));
    if (isFew)
      for (let next = 0; next < pending.length; next += mostKeys)
        await mergeAll(await rows.read(results, { select, where: keysIn(pending.slice(next, next + mostKeys), key) }));
    else
      for (let left = await fragmentsIn(results, rows); left.length > 0;) {
        const [some, others] = cutFragments(left, rowsOfPage(column.type, 0));
        // Each append has made a fragment, so a page has many of them.
        await mergeAll(await rows.read(results, { select, where: inRange(...spanOf(some)) }));
        left = others;
      }
    await this.#drop(results);
  }

  /** Rows that an earlier run left without a value are computed again: its code may have been at fault. */
  async retryFailed(): Promise<void> {
    const { rows, mayWrite } = this.#context;
    const { table } = this.#action;
    // A row without a mark would have the value of an application.
    if (this.#stale !== undefined) return;
    const failed = this.#ours(hasFailed(this.#action));
    if ((await this.#count(failed, 1)) === 0) return;
    await mayWrite();
    await rows.setNull(table, [this.#computing.mark], failed);
    this.#others++;
  }

  /** If the code has computed a row before, it is not to blame for the first rows that fail now. */
  async checkCode(): Promise<void> {
    if (this.#action.failedRows === "leave")
      this.#computing.tally.good += await this.#count(computedCondition(this.#action), 1);
  }

  /** Computes a page of the rows without a value of their sources. Whether it was full; undefined if there is none. */
  async page(): Promise<boolean | undefined> {
    const computing = this.#computing;
    const limit = computing.pageRows;
    const version = await this.#version();
    const wanted = await this.#next(limit, version !== undefined);
    if (wanted.length === 0) return undefined;
    const counted = computing.isFirstPage && this.#countAll(wanted.length, wanted.length < limit);
    const [values] = await Promise.all([computing.compute(wanted), counted]);
    const merged = await this.#merge(values, { version, addresses: addressesOf(wanted) });
    await this.#drop(this.#context.staging);
    this.#vain = merged > 0 ? 0 : this.#vain + 1;
    // Otherwise the last catch-up ends it.
    if (this.#vain >= mostVain && wanted.length === limit)
      throw new FillFailed(
        `${this.#action.from.join(", ")} of ${count(wanted.length, "row")} changed while their values were computed, ${mostVain} times in a row; stop the application that changes them, or leave them out with \`where\``,
      );
    return wanted.length === limit;
  }

  /** The rows of the next page. */
  async #next(limit: number, hasAddresses: boolean): Promise<readonly RowValues[]> {
    const computing = this.#computing;
    if (this.#stale === undefined) return await computing.read(this.#pending, limit, hasAddresses);
    for (;;) {
      const keys = await this.#stale.next(limit);
      const found: RowValues[] = [];
      for (let next = 0; next < keys.length; next += mostKeys) {
        const some = keysIn(keys.slice(next, next + mostKeys), computing.key);
        found.push(...(await computing.read(some, undefined, hasAddresses)));
      }
      // Those that were deleted meanwhile are not found.
      if (found.length > 0 || keys.length === 0) return found;
    }
  }

  /** Removes the values of rows that `where` no longer holds for. Returns how many rows keep theirs. */
  async clearLeft(): Promise<number> {
    const { kept, commits } = await clearLeft(this.#action, this.#computing.column.name, this.#context);
    this.#others += commits;
    return kept;
  }

  async problem(isComplete: boolean, kept: number): Promise<Filled["problem"]> {
    const outdated = isComplete ? 0 : ((await this.#stale?.count()) ?? (await this.#count(this.#pending)));
    const failure = this.#computing.problem ?? this.#context.failure;
    const failed = failure === undefined ? 0 : await this.#count(this.#ours(hasFailed(this.#action)));
    if (outdated + failed + kept === 0) return undefined;
    const later = this.#stale !== undefined || isPrepared(this.#computing.column.name);
    const changing = `others kept changing what it is computed from${later ? ", and migrate up computes it later" : ""}`;
    const texts = failed > 0 ? [failure!] : outdated > 0 ? [changing] : [];
    if (kept > 0) texts.push("it changed so that `where` no longer holds for it, and keeps its former value");
    return { rows: outdated + failed + kept, text: texts.join("; ") };
  }

  /** A predicate for those of the rows for which another one holds that this fill may compute. */
  #ours(predicate: string): string {
    const { where, key } = this.#action;
    const { shard } = this.#context;
    const all = [predicate, where, shard && inShard(shard, key)].filter((one) => one !== undefined);
    return all.map((one) => `(${one})`).join(" and ");
  }

  /** While a page is computed, no row leaves the pending ones. */
  async #countAll(found: number, isAll: boolean): Promise<void> {
    this.#computing.total = isAll ? found : await this.#context.count?.(this.#pending);
  }

  async #count(where: string, limit?: number): Promise<number> {
    const select = [["mark", sqlPath([this.#computing.mark])]] as const;
    return (await this.#context.rows.read(this.#action.table, { select, where, limit })).length;
  }

  /** A call may have been staged twice, by a run that was taken over and its successor. Merges the last of its results. */
  async #mergeOnce(values: readonly RowValues[]): Promise<void> {
    const { name } = this.#computing.key;
    await this.#merge([...new Map(values.map((row) => [String(row[name]), row])).values()]);
  }

  /**
   * Returns how many rows got their value. `seen`: since when they are known to lack one. If others have written to the
   * table since then, and for rows that were left out because they had moved, it is looked again.
   */
  async #merge(values: readonly RowValues[], seen?: Seen): Promise<number> {
    const { rows } = this.#context;
    const { table, key, overwrite = false } = this.#action;
    const { column, key: keyColumn, markNow } = this.#computing;
    const wanted = { rows, table, key: keyColumn, mark: markNow, pending: this.#pending };
    let merged = 0;
    let [left, known] = [values, seen];
    for (let tries = 1; left.length > 0;) {
      const version = overwrite ? undefined : await this.#version();
      const isLast = tries === mostMerges || version === undefined;
      if (!isLast && (known === undefined || known.version !== version))
        [left, known] = await stillPending(left, wanted);
      if (left.length === 0) break;
      const addresses = isLast ? undefined : known?.addresses;
      const condition = isCurrent(this.#action, column.name, addresses, rows.mostRanges);
      const merge = { table, key, values: this.#computing.values(left), condition, stops: addresses !== undefined };
      const { changed, merged: tried } = await this.#merger.merge(merge);
      merged += changed;
      if (isLast || changed === left.length) break;
      // A merge that stopped has left the rest untried.
      if (changed === 0 || tried === left.length) tries++;
      known = undefined;
    }
    return merged;
  }

  async #drop(staging: string): Promise<void> {
    await this.#context.mayWrite();
    await this.#context.rows.drop(staging);
  }

  async #version(): Promise<number | undefined> {
    return await this.#context.rows.version(this.#action.table);
  }
}
