/**
 * Computes the values of a column, page by page. What was computed is first appended to a staging table, call by call,
 * and then merged into the column at the end of the page: many small merges would scatter the rows of the table over
 * many files. A run that is killed loses only the calls that were under way.
 */
import { count } from "../../errors/migrate-error.ts";
import type { FillColumnAction } from "../../actions/model/action.ts";
import {
  codePart,
  failedMark,
  hasFailed,
  isComputed,
  isCurrent,
  isPending,
  markColumn,
  markName,
  markSql,
  nullMark,
  rowAddress,
} from "../../actions/rewrite/source-marks.ts";
import { firstPageRows, sqlOf } from "../../actions/model/computation.ts";
import { sameColumns, type Column } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import type { RowValue, RowValues } from "../../schema/row-values.ts";
import { sqlPath } from "../../schema/sql.ts";
import { requireColumn, type Table } from "../../schema/table.ts";
import type { NewValues } from "../../targets/contract/row-access.ts";
import { castSql } from "../../wire/arrow/arrow-cast.ts";
import { editedProblem } from "../check/edited-code.ts";
import { computeAll, type RowResult, type Tally } from "./compute-all.ts";
import type { FillContext, Filled } from "./fill-context.ts";
import { codeFailed, FillFailed } from "./fill-failed.ts";
import { addressesOf, clearLeft, requireUnique, rowsOfPage, stillPending, type Seen } from "./found-rows.ts";
import { inShard } from "./shard.ts";

/** How often rows are looked for that were written while others were computed. */
const mostCatchUps = 10;

/** How many pages may follow each other of which no row could be merged: applications changed all of them meanwhile. */
const mostVain = 5;

/** How often a page is merged. The last time, the engine reads the column in every row to see which have no value. */
const mostMerges = 3;

export async function fillColumn(action: FillColumnAction, table: Table, context: FillContext): Promise<Filled> {
  const fill = new Fill(action, table, context);
  return await filled(fill, context).catch((error: unknown) => {
    throw error instanceof FillFailed ? Object.assign(error, { merges: fill.merges }) : error;
  });
}

async function filled(fill: Fill, context: FillContext): Promise<Filled> {
  for (const staged of context.staged) await fill.mergeStaged(staged);
  if (context.keepsFailed !== true) await fill.retryFailed();
  await fill.checkCode();
  let isComplete = await catchUp(fill);
  if (context.pause !== undefined) {
    await context.pause();
    isComplete = await catchUp(fill);
  }
  const problem = await fill.problem(isComplete, await fill.clearLeft());
  return { merges: fill.merges, problem };
}

/** Whether no row was left. An application may change rows all the time. */
async function catchUp(fill: Fill): Promise<boolean> {
  for (let looks = 0; looks <= mostCatchUps;) {
    const isFull = await fill.page();
    if (isFull === undefined) return true;
    if (!isFull) looks++;
  }
  return false;
}

class Fill {
  merges = 0;
  #problem: string | undefined;
  readonly #action: FillColumnAction;
  readonly #context: FillContext;
  readonly #key: Column;
  readonly #column: Column;
  readonly #mark: string;
  readonly #pending: string;
  readonly #tally: Tally = { good: 0, bad: 0 };
  #total: number | undefined;
  #computed = 0;
  #vain = 0;
  #limit = firstPageRows;
  #rowBytes: number | undefined;

  constructor(action: FillColumnAction, { columns }: Table, context: FillContext) {
    this.#action = action;
    this.#context = context;
    this.#column = requireColumn(action.table, columns, parsePath(action.path));
    this.#key = requireColumn(action.table, columns, [action.key]);
    this.#mark = action.mark ?? markName;
    this.#pending = this.#ours(isPending(action, this.#column.name));
  }

  /** Merges what an earlier run has computed and not merged. */
  async mergeStaged(staging: string): Promise<void> {
    const { rows } = this.#context;
    const columns = await rows.columns(staging);
    if (columns === undefined) return;
    // Another column of that name, or what a killed run has left of a drop, can't be merged.
    const select = this.#columns.map(({ name }) => [name, sqlPath([name])] as const);
    const staged = sameColumns(columns, this.#columns) ? await rows.read(staging, { select }) : [];
    // A call may have been staged twice, by a run that was taken over and its successor.
    await this.#merge([...new Map(staged.map((row) => [String(row[this.#key.name]), row])).values()], staging);
  }

  /** Rows that an earlier run left without a value are computed again: its code may have been at fault. */
  async retryFailed(): Promise<void> {
    const { rows, mayWrite } = this.#context;
    const { table } = this.#action;
    const failed = this.#ours(hasFailed(this.#action));
    if ((await this.#count(failed, 1)) === 0) return;
    await mayWrite();
    await rows.setNull(table, [this.#mark], failed);
    this.merges++;
  }

  /** If the code has computed a row before, it is not to blame for the first rows that fail now. */
  async checkCode(): Promise<void> {
    if (this.#action.failedRows === "leave") this.#tally.good += await this.#count(isComputed(this.#action), 1);
  }

  /** Computes a page of the rows without a value of their sources. Whether it was full; undefined if there is none. */
  async page(): Promise<boolean | undefined> {
    const limit = this.#pageRows;
    const version = await this.#version();
    const wanted = await this.#read(limit, version !== undefined);
    if (wanted.length === 0) return undefined;
    requireUnique(wanted, this.#action);
    this.#rowBytes = wanted.reduce((sum, row) => sum + JSON.stringify(row).length, 0) / wanted.length;
    const counted = this.#computed === 0 && this.#countAll(wanted.length, wanted.length < limit);
    const computed = this.#sql === undefined ? this.#compute(wanted) : this.#selected(wanted);
    const [values] = await Promise.all([computed, counted]);
    const merged = await this.#merge(values, this.#context.staging, { version, addresses: addressesOf(wanted) });
    this.#vain = merged > 0 ? 0 : this.#vain + 1;
    // Otherwise the last catch-up ends it.
    if (this.#vain >= mostVain && wanted.length === limit)
      throw new FillFailed(
        `${this.#action.from.join(", ")} of ${count(wanted.length, "row")} changed while their values were computed, ${mostVain} times in a row; stop the application that changes them, or leave them out with \`where\``,
      );
    return wanted.length === limit;
  }

  /** The values that code computes. */
  async #compute(wanted: readonly RowValues[]): Promise<readonly RowValues[]> {
    const compute = await this.#context.start();
    const edited =
      this.#computed > 0 ? undefined : await editedProblem(this.#action, this.#column, { ...this.#context, compute });
    if (edited !== undefined) throw codeFailed(this.#action.with, edited);
    const values: RowValues[] = [];
    const stage = async (results: readonly RowResult[]) => void values.push(...(await this.#stage(results)));
    await computeAll(wanted, this.#action, this.#column, { compute, stage, tally: this.#tally });
    return values;
  }

  /** The values that SQL has given with the rows. They cost nothing, so they are not staged. */
  #selected(wanted: readonly RowValues[]): readonly RowValues[] {
    this.#context.progress((this.#computed += wanted.length), this.#total);
    return wanted.map((row) => this.#rowOf({ row, value: row[this.#column.name] ?? null }));
  }

  /** Removes the values of rows that `where` no longer holds for. Returns how many rows keep theirs. */
  async clearLeft(): Promise<number> {
    const { kept, commits } = await clearLeft(this.#action, this.#column.name, this.#context);
    this.merges += commits;
    return kept;
  }

  async problem(isComplete: boolean, kept: number): Promise<Filled["problem"]> {
    const isInUse = this.#context.pause !== undefined;
    const outdated = isComplete ? 0 : await this.#count(this.#pending);
    const failed = this.#problem === undefined ? 0 : await this.#count(this.#ours(hasFailed(this.#action)));
    if (outdated + failed + kept === 0) return undefined;
    const changing = `others kept changing what it is computed from${isInUse ? ", or wrote its value themselves" : ""}`;
    const texts = failed > 0 ? [this.#problem!] : outdated > 0 ? [changing] : [];
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

  async #read(limit: number, hasAddresses = false): Promise<readonly RowValues[]> {
    const { table, from, key } = this.#action;
    const names = [...new Set([key, ...from])].map((name) => [name, sqlPath([name])] as const);
    const { name, type } = this.#column;
    if (hasAddresses) names.push([rowAddress, rowAddress]);
    if (this.#sql !== undefined) names.push([name, castSql(this.#sql, type)]);
    // A row that fails gets again what it has.
    else if (this.#action.keepsFailed === true) names.push([name, sqlPath([name])]);
    const select = [this.#markNow, ...names];
    return await this.#context.rows.read(table, { select, where: this.#pending, limit });
  }

  get #sql(): string | undefined {
    return sqlOf(this.#action);
  }

  /** The mark of a row's present sources. */
  get #markNow(): readonly [name: string, sql: string] {
    return [this.#mark, `arrow_cast(${markSql(this.#action)}, 'Utf8')`];
  }

  /** While a page is computed, no row leaves the pending ones. */
  async #countAll(found: number, isAll: boolean): Promise<void> {
    this.#total = isAll ? found : await this.#context.count?.(this.#pending);
  }

  async #count(where: string, limit?: number): Promise<number> {
    const select = [["mark", sqlPath([this.#mark])]] as const;
    return (await this.#context.rows.read(this.#action.table, { select, where, limit })).length;
  }

  async #stage(results: readonly RowResult[]): Promise<readonly RowValues[]> {
    const { rows, staging, progress, mayWrite } = this.#context;
    const values = results.map((result) => this.#rowOf(result));
    await mayWrite();
    await rows.append(staging, this.#values(values));
    this.#computed += results.length;
    for (const result of results) if ("problem" in result) this.#problem ??= result.problem;
    progress(this.#computed, this.#total);
    return values;
  }

  /**
   * Returns how many rows got their value. `seen`: since when they are known to lack one. If others have written to the
   * table since then, and for rows that were left out because they had moved, it is looked again.
   */
  async #merge(values: readonly RowValues[], staging: string, seen?: Seen): Promise<number> {
    const { rows, mayWrite } = this.#context;
    const { table, key, overwrite = false } = this.#action;
    const wanted = { rows, table, key: this.#key, mark: this.#markNow, pending: this.#pending };
    let merged = 0;
    let [left, known] = [values, seen];
    for (let tries = 1; left.length > 0; tries++) {
      const version = overwrite ? undefined : await this.#version();
      const isLast = tries === mostMerges || version === undefined;
      if (!isLast && (known === undefined || known.version !== version))
        [left, known] = await stillPending(left, wanted);
      if (left.length === 0) break;
      await mayWrite();
      const marks = left.map((row) => row[this.#mark] as string);
      const addresses = isLast ? undefined : known?.addresses;
      const condition = isCurrent(this.#action, this.#column.name, marks, addresses, rows.mostRanges);
      const changed = await rows.update(table, key, this.#values(left), condition);
      this.merges++;
      merged += changed;
      if (isLast || changed === left.length) break;
      known = undefined;
    }
    await mayWrite();
    await rows.drop(staging);
    return merged;
  }

  async #version(): Promise<number | undefined> {
    return await this.#context.rows.version(this.#action.table);
  }

  get #columns(): readonly Column[] {
    return [
      { name: this.#key.name, type: this.#key.type, nullable: true },
      markColumn(this.#mark),
      { name: this.#column.name, type: this.#column.type, nullable: true },
    ];
  }

  get #pageRows(): number {
    // The rows of the next page may be larger.
    if (this.#rowBytes !== undefined)
      this.#limit = Math.min(rowsOfPage(this.#column.type, this.#rowBytes), this.#limit * 4);
    return this.#limit;
  }

  #values(rows: readonly RowValues[]): NewValues {
    return { columns: this.#columns, rows };
  }

  #rowOf(result: RowResult): RowValues {
    const { row } = result;
    const mark = `${row[this.#mark] as string}${codePart(this.#context)}`;
    const [value, own]: [RowValue, string] =
      "problem" in result
        ? [row[this.#column.name] ?? null, `${failedMark}${mark}`]
        : [result.value, result.value === null ? `${nullMark}${mark}` : mark];
    return { [this.#key.name]: row[this.#key.name]!, [this.#mark]: own, [this.#column.name]: value };
  }
}
