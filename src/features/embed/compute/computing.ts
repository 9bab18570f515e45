/** Computes the values of rows that were read, and passes them on call by call. */
import type { FillColumnAction } from "../../../actions/model/action.ts";
import { firstPageRows, computationSql } from "../../../actions/model/computation.ts";
import {
  codePart,
  failedMark,
  laterMark,
  markColumn,
  markName,
  markSql,
  nullMark,
  rowAddress,
} from "../../../actions/rewrite/source-marks.ts";
import { isTextType, type Column } from "../../../schema/data-type.ts";
import { parsePath } from "../../../schema/path.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { requireColumn } from "../../../schema/table.ts";
import type { NewValues } from "../../../targets/contract/row-access.ts";
import { castSql } from "../../../wire/arrow/arrow-cast.ts";
import { editedProblem } from "../calls/edited-code.ts";
import { computeAll, type RowResult, type Tally } from "./compute-all.ts";
import type { ComputeContext } from "./fill-context.ts";
import { codeFailed } from "../calls/fill-failed.ts";
import { KnownValues } from "../calls/known-values.ts";
import { requireUnique, rowsOfPage } from "./found-rows.ts";
import { valuePart } from "./value-mark.ts";
import { addressColumn } from "./results.ts";

/** Writes values to where a run that is killed does not lose them, each with the address of its row if that was read. */
export type Keep = (values: readonly RowValues[]) => Promise<void>;

/** The rows that a run with other code has computed, with their sources and values; a few. */
export type OfOtherCode = (codeHash: string) => Promise<readonly RowValues[]>;

/** The columns of a staging table. */
export function stagedColumns({ key, mark, column }: Pick<Computing, "key" | "mark" | "column">): readonly Column[] {
  return [
    { name: key.name, type: key.type, nullable: true },
    markColumn(mark),
    { name: column.name, type: column.type, nullable: true },
  ];
}

export class Computing {
  readonly key: Column;
  readonly column: Column;
  readonly mark: string;
  readonly tally: Tally = { good: 0, bad: 0, badSources: 0 };
  /** How many rows are computed in all, if that is known. */
  total: number | undefined;
  /** Why the first row failed for which the code did. */
  problem: string | undefined;
  readonly #action: FillColumnAction;
  readonly #context: ComputeContext;
  readonly #ofOtherCode: OfOtherCode;
  readonly #known: KnownValues | undefined;
  #computed = 0;
  #limit = firstPageRows;
  #rowBytes: number | undefined;

  constructor(action: FillColumnAction, columns: readonly Column[], context: ComputeContext, ofOtherCode: OfOtherCode) {
    this.#action = action;
    this.#context = context;
    this.#ofOtherCode = ofOtherCode;
    this.column = requireColumn(action.table, columns, parsePath(action.path));
    this.key = requireColumn(action.table, columns, [action.key]);
    this.mark = action.mark ?? markName;
    // Those of other types depend on casts to text.
    const isExact = action.from.every((name) => columns.some((one) => one.name === name && isTextType(one.type)));
    if (action.equalRows !== "each") this.#known = new KnownValues(action.from, isExact ? this.mark : undefined);
  }

  /** The mark of a row's present sources. */
  get markNow(): readonly [name: string, sql: string] {
    return [this.mark, `arrow_cast(${markSql(this.#action)}, 'Utf8')`];
  }

  /** Those of the staging table. */
  get columns(): readonly Column[] {
    return stagedColumns(this);
  }

  /** How many rows the next page may have: they may be larger than those before. */
  get pageRows(): number {
    if (this.#rowBytes !== undefined)
      this.#limit = Math.min(rowsOfPage(this.column.type, this.#rowBytes), this.#limit * 4);
    return this.#limit;
  }

  get isFirstPage(): boolean {
    return this.#computed === 0;
  }

  /** The rows for which a predicate holds, with all that is needed to compute their values. */
  async read(where: string, limit: number | undefined, hasAddresses: boolean): Promise<readonly RowValues[]> {
    const { table, from, key, keepsFailed } = this.#action;
    const names = [...new Set([key, ...from])].map((name) => [name, sqlPath([name])] as const);
    const { name, type } = this.column;
    const sql = computationSql(this.#action);
    if (hasAddresses) names.push([rowAddress, rowAddress]);
    if (sql !== undefined) names.push([name, castSql(sql, type)]);
    // A row that fails gets again what it has.
    else if (keepsFailed === true) names.push([name, sqlPath([name])]);
    return await this.#context.rows.read(table, { select: [this.markNow, ...names], where, limit });
  }

  /** A value and a mark for each of these rows. Throws FillFailed; what was computed before is staged. */
  async compute(wanted: readonly RowValues[]): Promise<readonly RowValues[]> {
    const { rows, staging } = this.#context;
    const all: RowValues[] = [];
    await this.computeEach(wanted, async (values) => {
      // Those of SQL cost nothing.
      if (computationSql(this.#action) === undefined) await rows.append(staging, this.values(values));
      all.push(...values);
    });
    return all;
  }

  /** Computes a value and a mark for each of these rows. Throws FillFailed; what was computed before is kept. */
  async computeEach(wanted: readonly RowValues[], keep: Keep): Promise<void> {
    requireUnique(wanted, this.#action);
    const some = wanted.filter((_, at) => at % 16 === 0);
    this.#rowBytes = some.reduce((sum, row) => sum + JSON.stringify(row).length, 0) / some.length;
    if (computationSql(this.#action) === undefined) return await this.#call(wanted, keep);
    const selected = wanted.map((row) => ({ row, value: row[this.column.name] ?? null }));
    await this.#keep(selected, keep);
  }

  values(rows: readonly RowValues[]): NewValues {
    return { columns: this.columns, rows };
  }

  /** The values that code computes. */
  async #call(wanted: readonly RowValues[], keep: Keep): Promise<void> {
    const { start, codeHash, clock } = this.#context;
    const compute = await start();
    const known = this.isFirstPage && codeHash !== undefined ? await this.#ofOtherCode(codeHash) : [];
    const edited = await editedProblem(this.#action, this.column, known, compute);
    if (edited !== undefined) throw codeFailed(this.#action.with, edited);
    const stage = async (results: readonly RowResult[]) => await this.#keep(results, keep);
    await computeAll(wanted, this.#action, this.column, {
      compute,
      stage,
      tally: this.tally,
      known: this.#known,
      clock,
    });
  }

  async #keep(results: readonly RowResult[], keep: Keep): Promise<void> {
    const { progress, mayWrite } = this.#context;
    await mayWrite();
    await keep(results.map((result) => this.#rowOf(result)));
    this.#computed += results.length;
    for (const result of results) if ("problem" in result) this.problem ??= result.problem;
    progress(this.#computed, this.total);
  }

  #rowOf(result: RowResult): RowValues {
    const { row } = result;
    const [value, beginning] =
      "problem" in result
        ? [row[this.column.name] ?? null, failedMark]
        : [result.value, result.value === null ? nullMark : ""];
    const own = beginning === "" ? valuePart(value, this.column.type) : "";
    const later = this.#context.inUse === true ? laterMark : "";
    const mark = `${beginning}${later}${row[this.mark] as string}${own}${codePart(this.#context)}`;
    const address = row[rowAddress] ?? null;
    const placed = { [this.key.name]: row[this.key.name]!, [this.mark]: mark, [addressColumn.name]: address };
    return { ...placed, [this.column.name]: value };
  }
}
