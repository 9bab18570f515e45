/**
 * Computes rows of a table from those of another one, page by page. All rows of a source are appended in one commit, and
 * only then the ones that it had before are deleted: at any moment, each source has the rows of one or the other, or both.
 * Which sources are done, the rows themselves show by their marks, so a run that was killed is resumed by the next one.
 */
import type { PopulateTableAction } from "../../../actions/model/action.ts";
import { firstPageRows } from "../../../actions/model/computation.ts";
import { populating } from "../../../actions/rewrite/populating.ts";
import { populatedMark, sourceMarkSql } from "./populated-marks.ts";
import { rowAddress } from "../../../actions/rewrite/source-marks.ts";
import type { Column } from "../../../schema/data-type.ts";
import { canHold, type RowValue, type RowValues } from "../../../schema/row-values.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { requireColumn } from "../../../schema/table.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Clock } from "../../../time/clock.ts";
import { computeAll, type Compute, type RowResult, type Tally } from "../compute/compute-all.ts";
import type { Filled } from "../compute/fill-context.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import { keysIn, mostKeys, requireUnique, rowsOfPage } from "../compute/found-rows.ts";
import { canBeBlocks, findSources, outdatedRows, pagesOf, type FoundSource } from "./find-sources.ts";

export interface PopulateContext {
  readonly rows: RowAccess;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Starts the code before it is first called: there may be nothing to compute. */
  readonly start: () => Promise<Compute>;
  readonly codeHash?: string | undefined;
  /** Throws if this run may not write any more. Called before each write. */
  readonly mayWrite: () => Promise<void>;
  /** How many rows of the source table are computed, if the target can count. */
  readonly count?: (() => Promise<number | undefined>) | undefined;
  readonly progress: (computed: number, total: number | undefined) => void;
}

/** How often sources are looked for that changed while others were computed. */
const mostPasses = 10;

/** Milliseconds for which computed rows are collected, and about how many: each append makes a file and a version. */
const longestWait = 1_000;
const mostWaiting = 10_000;

export async function populateTable(
  action: PopulateTableAction,
  context: PopulateContext,
): Promise<Filled & { readonly appends: number }> {
  const [columns, sources] = await Promise.all([action.table, action.from].map((table) => context.rows.columns(table)));
  if (columns === undefined) throw new FillFailed(`there is no table ${action.table}`);
  if (sources === undefined) throw new FillFailed(`there is no table ${action.from}`);
  const work = new Populating(action, columns, sources, context);
  try {
    return { problem: await work.run(), merges: work.commits, appends: work.appends };
  } catch (error) {
    throw error instanceof FillFailed ? Object.assign(error, { merges: work.commits }) : (error as Error);
  }
}

class Populating {
  commits = 0;
  appends = 0;
  readonly #action: PopulateTableAction;
  readonly #context: PopulateContext;
  readonly #key: Column;
  readonly #source: Column;
  /** The columns of the populated table that get values. */
  readonly #written: readonly Column[];
  /** What the code answers for a source: a list of rows. */
  readonly #answer: Column;
  readonly #tally: Tally = { good: 0, bad: 0, badSources: 0 };
  /** The marks of the sources that have no rows after this run has computed them: the code gave none, or it failed. */
  readonly #without = new Set<string>();
  #problem: string | undefined;
  /** What is computed and not appended yet. */
  #waiting: { readonly key: RowValue; readonly now: string; readonly rows: readonly RowValues[] }[] = [];
  /** When something was appended last, or the page began. */
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #appended = Promise.resolve();
  #computed = 0;
  #total: number | undefined;
  #limit = firstPageRows;

  constructor(
    action: PopulateTableAction,
    columns: readonly Column[],
    sources: readonly Column[],
    context: PopulateContext,
  ) {
    const { table, from, key, source, mark } = action;
    this.#action = action;
    this.#context = context;
    this.#key = requireColumn(from, sources, [key]);
    this.#source = requireColumn(table, columns, [source]);
    this.#written = columns.filter(({ type, computed }) => computed === undefined && canHold(type));
    const fields = this.#written.filter(({ name }) => name !== source && name !== mark);
    const item = { name: "item", type: { kind: "struct", fields }, nullable: false } as const;
    this.#answer = { name: "rows", type: { kind: "list", item }, nullable: false };
  }

  /** Returns what could not be computed. */
  async run(): Promise<Filled["problem"]> {
    const isEmpty = await this.#isEmpty();
    if (!isEmpty) this.#tally.good++;
    const sources = await this.#context.count?.();
    if (isEmpty) this.#total = sources;
    const { table, from } = this.#action;
    const versions = [await this.#context.rows.version(table), await this.#context.rows.version(from)];
    const hasAddresses = !versions.includes(undefined);
    const context = {
      ...this.#context,
      action: this.#action,
      hasAddresses,
      byBlocks: canBeBlocks(this.#key, this.#source),
      sources,
    };
    let isComplete = false;
    for (let pass = 1; pass <= mostPasses && !isComplete; pass++)
      isComplete = !(await this.#pass(findSources({ ...context, isEmpty: isEmpty && pass === 1 })));
    const { bad } = this.#tally;
    if (bad > 0) return { rows: bad, text: this.#problem! };
    return isComplete ? undefined : { rows: 0, text: "others kept changing what they are computed from" };
  }

  /** Whether no row has a source. */
  async #isEmpty(): Promise<boolean> {
    const { table, source } = this.#action;
    const select = [[source, sqlPath([source])]] as const;
    const where = `${sqlPath([source])} is not null`;
    return (await this.#context.rows.read(table, { select, where, limit: 1 })).length === 0;
  }

  /** Whether there was anything to do. */
  async #pass(found: AsyncIterable<FoundSource>): Promise<boolean> {
    let [lacking, outdated, hasWork]: [FoundSource[], FoundSource[], boolean] = [[], [], false];
    const end = async () => {
      if (lacking.length > 0) await this.#page(lacking);
      if (outdated.length > 0) await this.#delete(outdated);
      [lacking, outdated] = [[], []];
    };
    for await (const one of found) {
      if (one.lacks === undefined) outdated.push(one);
      else if (!this.#without.has(one.lacks)) lacking.push(one);
      else continue;
      hasWork = true;
      if (lacking.length >= this.#limit || outdated.length >= mostKeys) await end();
    }
    await end();
    return hasWork;
  }

  async #page(lacking: readonly FoundSource[]): Promise<void> {
    const { start, clock } = this.#context;
    const wanted = await this.#read(lacking);
    requireUnique(wanted, { table: this.#action.from, key: this.#key.name });
    if (wanted.length === 0) return;
    this.#limit = this.#nextLimit(wanted);
    const compute = await start();
    const failed = new Set<string>();
    const stage = async (results: readonly RowResult[]) => await this.#stage(results, failed);
    this.#since = clock.steady();
    try {
      const calls = { compute, stage, tally: this.#tally, clock };
      await computeAll(wanted, populating(this.#action), this.#answer, calls);
    } finally {
      await this.#append();
    }
    const isRead = new Set(wanted.map((row) => String(row[this.#key.name])));
    // A source for which the code failed, or that has moved since, keeps the rows that it has.
    const done = lacking.filter(({ key }) => isRead.has(String(key)) && !failed.has(String(key)));
    await this.#delete(done);
  }

  /** They may have changed or moved since they were found; the next pass finds them again. */
  async #read(lacking: readonly FoundSource[]): Promise<readonly RowValues[]> {
    const { from, key, columns, where } = this.#action;
    const names = [key, ...columns].map((name) => [name, sqlPath([name])] as const);
    const select = [["now", sourceMarkSql(this.#action)] as const, ...names];
    const found: RowValues[] = [];
    for (const some of pagesOf(lacking)) {
      const rows = some.map((one) => ({ [key]: one.key }));
      const isAddressed = some.every(({ address }) => address !== undefined);
      const these = isAddressed
        ? `${rowAddress} in (${some.map(({ address }) => address).join(", ")})`
        : keysIn(rows, this.#key);
      const both = where === undefined ? these : `${these} and (${where})`;
      found.push(...(await this.#context.rows.read(from, { select, where: both })));
    }
    return found;
  }

  async #stage(results: readonly RowResult[], failed: Set<string>): Promise<void> {
    const { clock, progress } = this.#context;
    for (const result of results) {
      const key = result.row[this.#key.name]!;
      const now = result.row["now"] as string;
      const rows = "value" in result ? ((result.value ?? []) as readonly RowValues[]) : [];
      if (rows.length === 0) this.#without.add(now);
      else this.#waiting.push({ key, now, rows });
      if ("value" in result) continue;
      failed.add(String(key));
      this.#problem ??= result.problem;
    }
    this.#computed += results.length;
    const waiting = this.#waiting.reduce((sum, { rows }) => sum + rows.length, 0);
    const left = longestWait - (clock.steady() - this.#since);
    if (waiting >= mostWaiting || left <= 0) await this.#append();
    // The calls that are under way may take long. If it fails, so does the next append.
    else this.#timer ??= setTimeout(() => void this.#append().catch(() => {}), left);
    progress(this.#computed, this.#total);
  }

  /** Appends what is waiting, when the append before has ended. */
  #append(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#appended = this.#appended.then(() => this.#appendWaiting()));
  }

  /** In one commit, so that the rows of a source are there all or none. */
  async #appendWaiting(): Promise<void> {
    const { rows, mayWrite, clock } = this.#context;
    const { table, source, mark } = this.#action;
    const all = this.#waiting.splice(0);
    this.#since = clock.steady();
    if (all.length === 0) return;
    const append = clock.random().toString(36).slice(2, 10);
    const values = all.flatMap(({ key, now, rows: own }) => {
      const marked = populatedMark(now, own.length, append, this.#context);
      return own.map((row) => ({ ...row, [source]: key, [mark]: marked }));
    });
    await mayWrite();
    await rows.append(table, { columns: this.#written, rows: values });
    this.commits++;
    this.appends++;
  }

  async #delete(sources: readonly FoundSource[]): Promise<void> {
    const { rows, mayWrite } = this.#context;
    for (const where of outdatedRows(sources, this.#action, this.#source.type)) {
      await mayWrite();
      await rows.delete(this.#action.table, where);
      this.commits++;
    }
  }

  /** How many sources the next page may have: they may be larger than those of this one. */
  #nextLimit(page: readonly RowValues[]): number {
    const some = page.filter((_, at) => at % 16 === 0);
    const bytes = some.reduce((sum, row) => sum + JSON.stringify(row).length, 0) / some.length;
    return Math.min(rowsOfPage(this.#key.type, bytes), this.#limit * 4);
  }
}
