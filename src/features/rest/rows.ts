/** Rows of tables on a service of the namespace dialect. */
import { rowAddress } from "../../actions/rewrite/source-marks.ts";
import type { RowValues } from "../../schema/row-values.ts";
import { systemClock } from "../../time/clock.ts";
import { streamType } from "../../wire/content-types.ts";
import { patience, retry } from "../../targets/contract/retry.ts";
import type { NewValues, RowAccess, WantedValues } from "../../targets/contract/row-access.ts";
import { verdictOf } from "./service-verdict.ts";
import type { Client } from "./client.ts";
import { describe, indexesOf } from "./describe.ts";
import { jsonBody, type HttpRequest, type HttpResponse } from "./http/message.ts";
import { allRows } from "./ledger-table.ts";
import { parseUpdated } from "./parse-answers.ts";

/** In bytes. A page of rows has about 32 MiB, and of a staging table twice as much if appends were repeated. */
const largestRead = 512 * 1024 * 1024;

/** In bytes, of an answer that takes the place of batches: the rows of millions of keys are too large for memory. */
const largestBatch = 32 * 1024 * 1024;

/** The writes are ones that may be repeated (contract/row-access.ts), so they are, if no answer comes. */
export function restRows(client: Client): RowAccess {
  let addresses: boolean | undefined;
  const repeated = async <Result>(work: () => Promise<Result>): Promise<Result> =>
    await retry(work, verdictOf, systemClock, patience.unanswered);
  /** `ifMissing` is done if there is no such table. */
  const orMissing = async <Result>(table: string, work: () => Promise<Result>, ifMissing: () => Promise<Result>) => {
    try {
      return await work();
    } catch (error) {
      if (await client.saysMissing(error, table)) return await ifMissing();
      throw error;
    }
  };
  /** `vector`: one, several, or none, as the protocol has them. */
  const query = async (
    table: string,
    { select, where, limit = allRows }: WantedValues,
    vector: readonly unknown[],
    more: object = {},
    largest = largestRead,
  ): Promise<readonly RowValues[]> => {
    const wanted = { columns: Object.fromEntries(select), filter: where, k: limit, prefilter: true, vector, ...more };
    const answer = await client.read("query", table, wanted, largest);
    const rows = await decode(answer, select);
    if (rows === undefined) throw client.strange("query", table, answer, "Arrow data with what was asked for");
    return rows;
  };
  return {
    columns: async (table) => (await describe(client, table))?.table.columns,
    indexes: (table) => indexesOf(client, table),
    async version(table) {
      const version = (await describe(client, table))?.version;
      if (version === undefined) return undefined;
      addresses ??= await hasAddresses(client, table);
      return addresses ? version : undefined;
    },
    read: (table, wanted) =>
      orMissing<readonly RowValues[]>(
        table,
        () => query(table, wanted, []),
        async () => [],
      ),
    async *batches(table, wanted) {
      yield await query(table, wanted, [], {}, largestBatch);
    },
    nearest: (table, { column, vectors, distance, exact, ...wanted }) =>
      query(table, wanted, vectors.length === 1 ? vectors[0]! : vectors, {
        vector_column: column,
        distance_type: distance,
        bypass_vector_index: exact,
      }),
    async update(table, key, values, condition) {
      const merge = { on: key, when_matched_update_all: "true", when_matched_update_all_filt: condition };
      // With an index on the key, the engine can't evaluate the condition (docs/internals/engine.md).
      const sent = { body: await encode(values), query: { ...merge, use_index: "false" } };
      const answer = await repeated(() => client.write("merge", table, sent));
      const updated = parseUpdated(answer);
      if (updated === undefined) throw client.strange("merge", table, answer, "number of updated rows");
      return updated;
    },
    // The condition is part of the address of a request, which may have 16 kB.
    mostRanges: 100,
    async setNull(table, columns, where) {
      const body = jsonBody({ predicate: where, updates: columns.map((column) => [column, "null"]) });
      await repeated(() => client.write("update", table, { body }));
    },
    async append(table, values) {
      const body = await encode(values);
      const add = () => client.write("insert", table, { body });
      const create = () => client.write("create", table, { body });
      await repeated(() => orMissing(table, add, create));
    },
    async delete(table, where) {
      await repeated(() => client.write("delete", table, { body: jsonBody({ predicate: where }) }));
    },
    async drop(table) {
      const drop = () => client.write("drop", table, { body: jsonBody({}) });
      await repeated(() => orMissing<unknown>(table, drop, async () => undefined));
    },
  };
}

/** Whether the service tells where rows are stored. A service may have an engine that does not. */
async function hasAddresses(client: Client, table: string): Promise<boolean> {
  try {
    await client.read("query", table, { columns: { [rowAddress]: rowAddress }, k: 1, vector: [] });
    return true;
  } catch (error) {
    if (verdictOf(error).kind === "refused") return false;
    throw error;
  }
}

async function encode({ columns, rows }: NewValues): Promise<HttpRequest["body"]> {
  const { rowsToIpc } = await import("../../wire/rows/write-rows.ts");
  return { type: streamType, bytes: rowsToIpc(columns, rows) };
}

/** Undefined if the answer does not have the selected values. */
async function decode(
  { body }: HttpResponse,
  select: WantedValues["select"],
): Promise<readonly RowValues[] | undefined> {
  const { fromIpc } = await import("../../wire/arrow/arrow-schema.ts");
  const { rowsIn } = await import("../../wire/rows/read-values.ts");
  try {
    const names = new Set(fromIpc(body).map(({ name }) => name));
    return select.every(([name]) => names.has(name)) ? rowsIn([body]) : undefined;
  } catch {
    return undefined;
  }
}
