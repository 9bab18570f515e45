/** Searches for the queries of an application in the old and in the new values of a column. */
import type { PrepareColumnAction } from "../../../actions/model/action.ts";
import { computationSql, type Computation, type EvaluateWith } from "../../../actions/model/computation.ts";
import { preparedName } from "../../../actions/rewrite/prepared-columns.ts";
import { formatType, type Column } from "../../../schema/data-type.ts";
import { parsePath } from "../../../schema/path.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import { codeFailed } from "../calls/fill-failed.ts";
import { computeAll, type Compute } from "../compute/compute-all.ts";
import type { Evaluated } from "../../../run/events.ts";
import { keysIn, mostKeys } from "../compute/found-rows.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { requireColumn } from "../../../schema/table.ts";
import { distancesIn, keysNear } from "../recall/compare-neighbours.ts";
import { loadQueries, type LoadedQuery } from "./load-queries.ts";
import { judged, type QueryResult } from "./judge.ts";

export interface Evaluating {
  readonly rows: RowAccess;
  readonly folder: string;
  /** Starts the code of a computation, and passes it on. */
  readonly withCode: <Result>(
    how: Computation,
    column: Column,
    work: (compute: Compute) => Promise<Result>,
  ) => Promise<Result>;
}

/** How many rows are looked for, unless the step states it. */
const usualK = 10;

/** `hasExpected`: whether the table has any of the rows that queries should find. Throws FillFailed if the queries can't be used, or have no vectors. */
export async function evaluateQueries(
  action: PrepareColumnAction,
  { file, k = usualK, old: oldCode }: EvaluateWith,
  context: Evaluating,
): Promise<{ readonly evaluated: Evaluated; readonly hasExpected: boolean }> {
  const { table, path, type, key, from } = action;
  const { rows, folder } = context;
  const queries = await loadQueries(file, folder, from);
  const name = parsePath(path)[0]!;
  const columns = (await rows.columns(table)) ?? [];
  const before = columns.find((column) => column.name === name);
  const vectors = new QueryVectors(file, context);
  const fresh = await vectors.of(queries, "new", action, { name, type, nullable: true });
  const hasOld = before?.type.kind === "fixedSizeList";
  const old = hasOld ? await vectors.of(queries, "old", oldCode && { ...action, ...oldCode }, before) : [];
  const names = [name, preparedName(name)] as const;
  const distances = await distancesIn(table, names, rows);
  const near = async (column: string, vector: readonly number[] | undefined) =>
    vector && (await keysNear({ table, key, column, distance: distances.get(column)!, limit: k }, vector, rows));
  const found: QueryResult[] = [];
  for (const [index, { text, expected }] of queries.entries()) {
    const [was, now] = [await near(names[0], old[index]), await near(names[1], fresh[index])];
    if (now === undefined) throw codeFailed(file, `: query ${index + 1} has no vector of the new model`);
    if (expected === undefined && was === undefined)
      throw codeFailed(
        file,
        `: query ${index + 1} states neither the rows that are \`expected\`, nor its \`old\` vector, and the step has no code for old vectors (\`down\`)`,
      );
    found.push({ query: text, expected, old: was, new: now });
  }
  const expected = [...new Set(queries.flatMap((query) => query.expected ?? []))].slice(0, mostKeys);
  const keys = keysIn(
    expected.map((one) => ({ [key]: one })),
    requireColumn(table, columns, [key]),
  );
  const select = [[key, sqlPath([key])]] as const;
  const hasExpected = expected.length > 0 && (await rows.read(table, { select, where: keys, limit: 1 })).length > 0;
  return { evaluated: judged(found, k), hasExpected };
}

class QueryVectors {
  readonly #file: string;
  readonly #withCode: Evaluating["withCode"];

  constructor(file: string, { withCode }: Evaluating) {
    this.#file = file;
    this.#withCode = withCode;
  }

  /** A vector of each query: its own, or the one that code computes; undefined where there is neither. */
  async of(
    queries: readonly LoadedQuery[],
    which: "old" | "new",
    how: Computation | undefined,
    column: Column,
  ): Promise<readonly (readonly number[] | undefined)[]> {
    const own = queries.map((query, index) => this.#checked(query[which], which, index, column));
    const lacking = queries.flatMap((query, index) => (own[index] === undefined ? [{ query, index }] : []));
    if (lacking.length === 0 || how === undefined || computationSql(how) !== undefined) return own;
    // Errors of the code name a row by its key.
    const given = lacking.map(({ query, index }) => ({ ...query.sources, [how.key]: `that of query ${index + 1}` }));
    const computed = new Map<unknown, readonly number[]>();
    await this.#withCode(how, column, async (compute) => {
      await computeAll(given, { ...how, failedRows: "stop" }, column, {
        compute,
        tally: { good: 0, bad: 0, badSources: 0 },
        stage: async (results) => {
          for (const result of results)
            if ("value" in result && result.value !== null)
              computed.set(result.row[how.key], Array.from(result.value as readonly number[]));
        },
      });
    });
    return own.map((vector, index) => vector ?? computed.get(`that of query ${index + 1}`));
  }

  #checked(vector: readonly number[] | undefined, which: string, index: number, { type }: Column) {
    if (vector === undefined || type.kind !== "fixedSizeList" || vector.length === type.length) return vector;
    throw codeFailed(
      this.#file,
      `: the vector \`${which}\` of query ${index + 1} has ${vector.length} numbers, and the column has the type ${formatType(type)}`,
    );
  }
}
