/** Computes the values of rows that were read. What was computed is appended to a staging table, call by call. */
import type { FillColumnAction } from "../../actions/model/action.ts";
import { firstPageRows, sqlOf } from "../../actions/model/computation.ts";
import {
  codePart,
  failedMark,
  laterMark,
  markColumn,
  markName,
  markSql,
  nullMark,
  rowAddress,
  valuePart,
} from "../../actions/rewrite/source-marks.ts";
import type { Column } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import type { RowValues } from "../../schema/row-values.ts";
import { sqlPath } from "../../schema/sql.ts";
import { requireColumn } from "../../schema/table.ts";
import type { NewValues } from "../../targets/contract/row-access.ts";
import { castSql } from "../../wire/arrow/arrow-cast.ts";
import { editedProblem } from "../check/edited-code.ts";
import { computeAll, type RowResult, type Tally } from "./compute-all.ts";
import type { ComputeContext } from "./fill-context.ts";
import { codeFailed } from "./fill-failed.ts";
import { requireUnique, rowsOfPage } from "./found-rows.ts";

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
  readonly tally: Tally = { good: 0, bad: 0 };
  /** How many rows are computed in all, if that is known. */
  total: number | undefined;
  /** Why the first row failed for which the code did. */
  problem: string | undefined;
  readonly #action: FillColumnAction;
  readonly #context: ComputeContext;
  readonly #ofOtherCode: OfOtherCode;
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
    const sql = sqlOf(this.#action);
    if (hasAddresses) names.push([rowAddress, rowAddress]);
    if (sql !== undefined) names.push([name, castSql(sql, type)]);
    // A row that fails gets again what it has.
    else if (keepsFailed === true) names.push([name, sqlPath([name])]);
    return await this.#context.rows.read(table, { select: [this.markNow, ...names], where, limit });
  }

  /** A value and a mark for each of these rows. Throws FillFailed; what was computed before is staged. */
  async compute(wanted: readonly RowValues[]): Promise<readonly RowValues[]> {
    requireUnique(wanted, this.#action);
    this.#rowBytes = wanted.reduce((sum, row) => sum + JSON.stringify(row).length, 0) / wanted.length;
    return sqlOf(this.#action) === undefined ? await this.#call(wanted) : this.#selected(wanted);
  }

  values(rows: readonly RowValues[]): NewValues {
    return { columns: this.columns, rows };
  }

  /** The values that code computes. */
  async #call(wanted: readonly RowValues[]): Promise<readonly RowValues[]> {
    const { start, codeHash } = this.#context;
    const compute = await start();
    const known = this.isFirstPage && codeHash !== undefined ? await this.#ofOtherCode(codeHash) : [];
    const edited = await editedProblem(this.#action, this.column, known, compute);
    if (edited !== undefined) throw codeFailed(this.#action.with, edited);
    const values: RowValues[] = [];
    const stage = async (results: readonly RowResult[]) => void values.push(...(await this.#stage(results)));
    await computeAll(wanted, this.#action, this.column, { compute, stage, tally: this.tally });
    return values;
  }

  /** The values that SQL has given with the rows. They cost nothing, so they are not staged. */
  #selected(wanted: readonly RowValues[]): readonly RowValues[] {
    this.#context.progress((this.#computed += wanted.length), this.total);
    return wanted.map((row) => this.#rowOf({ row, value: row[this.column.name] ?? null }));
  }

  async #stage(results: readonly RowResult[]): Promise<readonly RowValues[]> {
    const { rows, staging, progress, mayWrite } = this.#context;
    const values = results.map((result) => this.#rowOf(result));
    await mayWrite();
    await rows.append(staging, this.values(values));
    this.#computed += results.length;
    for (const result of results) if ("problem" in result) this.problem ??= result.problem;
    progress(this.#computed, this.total);
    return values;
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
    return { [this.key.name]: row[this.key.name]!, [this.mark]: mark, [this.column.name]: value };
  }
}
