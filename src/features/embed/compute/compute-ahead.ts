/**
 * Computes the values of a column before it is there. Results are appended to a table of their own, so that the table
 * gets no column and no version meanwhile, and none of its rows moves. It is read fragment by fragment, each once.
 */
import type { FillColumnAction } from "../../../actions/model/action.ts";
import { firstPageRows } from "../../../actions/model/computation.ts";
import { failedMark, markIn, rowAddress } from "../../../actions/rewrite/source-marks.ts";
import { isByOtherCode } from "../calls/mark-conditions.ts";
import type { Column } from "../../../schema/data-type.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { mostCompared } from "../calls/edited-code.ts";
import { Computing } from "./computing.ts";
import type { ComputeContext, Filled } from "./fill-context.ts";
import { keysIn, mostKeys } from "./found-rows.ts";
import { Reached } from "./reached.ts";
import { OwnResults, type KnownResults } from "./own-results.ts";
import type { Parts } from "./staging-name.ts";
import {
  addressColumn,
  addressOf,
  areIn,
  cutFragments,
  fragmentOf,
  fragmentsBefore,
  fragmentsIn,
  hasSucceeded,
  type Fragment,
} from "./results.ts";

export interface AheadContext extends ComputeContext {
  /** The tables of results that earlier runs have made, and the names of those that this run makes. */
  readonly results: Parts;
  /** Tables of results of others, which may have computed rows that this run would compute. */
  readonly others?: (() => Promise<readonly KnownResults[]>) | undefined;
}

/** How often fragments are looked for that came while others were computed. */
const mostPasses = 10;

/** How many rows are read at a time by their addresses, all of which are in the predicate. */
const mostAddresses = 5_000;

/** `columns`: those of the table, and the one that is computed. Returns how many rows failed, and why the first one did. */
export async function computeAhead(
  action: FillColumnAction,
  columns: readonly Column[],
  context: AheadContext,
): Promise<Filled["problem"]> {
  const ahead = new Ahead(action, columns, context);
  const failed = await ahead.resume();
  await ahead.computeAll();
  // At the end: a run with a limit of calls would get no further than to these.
  await ahead.computeAgain(failed);
  return ahead.problem;
}

/** Keys of rows for which the code failed. */
interface FailedRows {
  readonly name: string;
  readonly keys: readonly RowValues[];
}

class Ahead {
  readonly #action: FillColumnAction;
  readonly #context: AheadContext;
  readonly #computing: Computing;
  readonly #reached = new Reached();
  /** Rows of later fragments may have been computed before they moved there. */
  #before: number | undefined;
  #others: readonly KnownResults[] = [];
  readonly #own: OwnResults;
  /** How many results there are. */
  #known = 0;

  constructor(action: FillColumnAction, columns: readonly Column[], context: AheadContext) {
    this.#action = action;
    this.#context = context;
    this.#own = new OwnResults(context.results, context);
    this.#computing = new Computing(action, columns, context, async (hash) => await this.#ofOtherCode(hash));
  }

  get problem(): Filled["problem"] {
    const { problem, tally } = this.#computing;
    return problem === undefined ? undefined : { rows: tally.bad, text: problem };
  }

  /** Finds out what earlier runs have computed. Returns the rows that failed then. */
  async resume(): Promise<readonly FailedRows[]> {
    const { rows, results } = this.#context;
    const { columns, key, mark, tally } = this.#computing;
    const failed: FailedRows[] = [];
    for (const name of results.parts) {
      const before = await fragmentsBefore(name, columns, this.#action, rows);
      if (before === undefined) {
        await this.#drop(name);
        continue;
      }
      this.#own.found(name, before, (await rows.version(name)) ?? Infinity);
      await this.#findReached(name);
      const select = [["mark", sqlPath([mark])]] as const;
      tally.good += (await rows.read(name, { select, where: hasSucceeded(mark), limit: 1 })).length;
      const where = `starts_with(${sqlPath([mark])}, '${failedMark}')`;
      failed.push({ name, keys: await rows.read(name, { select: [[key.name, sqlPath([key.name])]], where }) });
    }
    this.#before = this.#own.before;
    return failed;
  }

  async computeAll(): Promise<void> {
    for (let pass = 1; pass <= mostPasses; pass++) {
      const fragments = await this.#fragments();
      this.#before ??= fragments.at(-1)?.number ?? -1;
      // Those that begin only now see the same fragments, or later ones.
      this.#others = (await this.#context.others?.()) ?? [];
      if (pass === 1) await this.#countAll(fragments);
      const computed = await this.#computeFragments(fragments);
      // The fill that follows computes the last few, and the rest if another run has begun to load what is computed.
      if (computed === undefined || computed < firstPageRows) return;
    }
  }

  async #isThere(): Promise<boolean> {
    const { name } = this.#computing.column;
    return (await this.#context.rows.columns(this.#action.table))?.some((column) => column.name === name) === true;
  }

  async #findReached(results: string): Promise<void> {
    const address = [addressColumn.name, sqlPath([addressColumn.name])] as const;
    for await (const batch of this.#context.rows.batches(results, { select: [address] }))
      for (const result of batch) {
        this.#known++;
        this.#reached.add(addressOf(result));
      }
  }

  /** The same for two rows if their values are. */
  #identity(row: RowValues): string {
    const { key, mark } = this.#computing;
    return `${String(row[key.name])} ${markIn(row[mark] as string)}`;
  }

  /** Those of which rows may not be computed yet. */
  async #fragments(): Promise<readonly Fragment[]> {
    const { rows, shard } = this.#context;
    return await fragmentsIn(this.#action.table, rows, this.#reached.next, shard);
  }

  /** A page may have rows of several fragments. Returns how many rows were computed; undefined if another run has begun to load. */
  async #computeFragments(fragments: readonly Fragment[]): Promise<number | undefined> {
    let computed = 0;
    let page: RowValues[] = [];
    for (let left = fragments; left.length > 0;) {
      const limit = this.#computing.pageRows;
      // Only some of the rows there may be wanted.
      const size = Math.max(limit - page.length, Math.ceil(limit / 4));
      const [some, others] = cutFragments(left, Math.min(size, mostAddresses));
      page.push(...(await this.#computing.read(this.#wanted(areIn(some)), undefined, true)));
      left = others;
      if (page.length < limit && left.length > 0) continue;
      if (await this.#isThere()) return undefined;
      const lacking = await this.#lacking(page.filter((row) => !this.#reached.has(Number(row[rowAddress]))));
      page = [];
      if (lacking.length > 0) await this.#computing.computeEach(lacking, async (values) => await this.#append(values));
      computed += lacking.length;
    }
    const last = fragments.at(-1);
    if (last !== undefined) this.#reached.complete(last.number);
    return computed;
  }

  async #append(values: readonly RowValues[]): Promise<void> {
    const { columns, mark } = this.#computing;
    await this.#own.append(values, columns, { ...this.#action, mark, before: this.#before ?? -1 });
  }

  async #drop(table: string): Promise<void> {
    await this.#context.mayWrite();
    await this.#context.rows.drop(table);
  }

  /** Those of the rows without a result, of this run or of others. */
  async #lacking(found: readonly RowValues[]): Promise<readonly RowValues[]> {
    const { rows } = this.#context;
    const { key, mark } = this.#computing;
    const select = [key.name, mark].map((name) => [name, sqlPath([name])] as const);
    const known = new Set<string>();
    for (const { name, before } of [...this.#own.tables, ...this.#others]) {
      const moved = found.filter((row) => fragmentOf(Number(row[rowAddress])) > before);
      if (moved.length > 0) await this.#own.index(name, key.name);
      for (const where of this.#byKeys(moved))
        for (const result of await rows.read(name, { select, where })) known.add(this.#identity(result));
    }
    return found.filter((row) => !known.has(this.#identity(row)));
  }

  /** Computes rows again that failed in an earlier run: the code may have been at fault. */
  async computeAgain(failed: readonly FailedRows[]): Promise<void> {
    const { rows } = this.#context;
    const { key } = this.#computing;
    for (const { name, keys } of failed) {
      const keep = async (values: readonly RowValues[]) =>
        void (await rows.update(name, key.name, this.#computing.values(values), "true"));
      for (const some of this.#byKeys(keys)) {
        const found = await this.#computing.read(this.#wanted(some), undefined, false);
        if (found.length > 0) await this.#computing.computeEach(found, keep);
      }
    }
  }

  async #ofOtherCode(codeHash: string): Promise<readonly RowValues[]> {
    if (this.#known === 0) return [];
    const { key, mark, column } = this.#computing;
    const select = [key.name, mark, column.name].map((name) => [name, sqlPath([name])] as const);
    const where = `${hasSucceeded(mark)} and ${isByOtherCode(sqlPath([mark]), codeHash)}`;
    const known: RowValues[] = [];
    for (const { name } of this.#own.tables) {
      const limit = mostCompared - known.length;
      if (limit > 0) known.push(...(await this.#context.rows.read(name, { select, where, limit })));
    }
    const values = new Map(known.map((result) => [this.#identity(result), result[column.name]!]));
    const [ofKeys] = this.#byKeys(known);
    const found = ofKeys === undefined ? [] : await this.#computing.read(ofKeys, undefined, false);
    return found.flatMap((row) => {
      const value = values.get(this.#identity(row));
      return value === undefined ? [] : [{ ...row, [column.name]: value }];
    });
  }

  /** Predicates for the rows with the keys of these, some keys in each. */
  #byKeys(found: readonly RowValues[]): readonly string[] {
    const { key } = this.#computing;
    const predicates: string[] = [];
    for (let next = 0; next < found.length; next += mostKeys)
      predicates.push(keysIn(found.slice(next, next + mostKeys), key));
    return predicates;
  }

  /** A predicate for those of the rows for which another one holds that are computed. */
  #wanted(predicate: string): string {
    const { where } = this.#action;
    return where === undefined ? predicate : `(${predicate}) and (${where})`;
  }

  async #countAll(fragments: readonly Fragment[]): Promise<void> {
    const { where } = this.#action;
    const { shard, count } = this.#context;
    if (where === undefined) {
      const ranges = fragments.flatMap((fragment) => fragment.ranges);
      const rows = ranges.reduce((sum, [first, end]) => sum + end - first, 0);
      this.#computing.total = Math.max(0, rows - this.#reached.size);
    } else if (shard === undefined) {
      const all = await count?.(where);
      this.#computing.total = all && Math.max(0, all - this.#known);
    }
  }
}
