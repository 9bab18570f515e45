/** The table of the ledger on a service of the namespace dialect: written by merges by key, read by queries. */
import { sqlText } from "../../schema/sql.ts";
import { systemClock } from "../../time/clock.ts";
import { lastRow, type Cell, type Row } from "../../wire/rows/ipc-rows.ts";
import { retry } from "../../targets/contract/retry.ts";
import type { RecordShape, RecordTable } from "../../targets/contract/ledger-store.ts";
import { streamType } from "../../wire/content-types.ts";
import type { Client } from "./client.ts";
import type { HttpResponse } from "./http/message.ts";
import { parseInserted } from "./parse-answers.ts";
import { isMigrateError } from "../../errors/migrate-error.ts";
import { verdictOf } from "./service-verdict.ts";

/** Requests all rows: a number that every service accepts. */
export const allRows = 2 ** 31 - 1;

interface LedgerQuery {
  readonly columns: readonly string[];
  readonly most?: number;
  readonly orderBy?: readonly string[];
}

export function restRecords(client: Client, { name, columns, key }: RecordShape): RecordTable {
  /** Services accept one of two forms of a query. The first accepted form is kept. Only LanceDB's own has an order. */
  let forms: readonly (typeof lanceQuery)[] = [lanceQuery, documentQuery];

  const query = async (wanted: LedgerQuery): Promise<Iterable<Row> | undefined> => {
    void loadReader(); // while the answer is under way
    for (const form of forms) {
      try {
        const answer = await client.read("query", name, form(wanted));
        const rows = await rowsOf(answer, wanted.columns);
        if (rows === undefined)
          throw client.strange("query", name, answer, "Arrow data with the rows that were asked for");
        forms = [form];
        return rows;
      } catch (error) {
        if (await client.saysMissing(error, name)) return undefined;
        const mayKnowAnother =
          isMigrateError(error, "ERR_ANSWER") && [400, 404, 405, 415, 422].includes(error.details.status);
        if (form === forms.at(-1) || !mayKnowAnother) throw error;
      }
    }
    return undefined;
  };

  const count = async (predicate: string): Promise<number> => {
    try {
      return await client.count(name, predicate);
    } catch (error) {
      if (await client.saysMissing(error, name)) return 0;
      if (!isMigrateError(error, "ERR_ANSWER") || error.details.status !== 404) throw error;
      // A first run may have created the table between the two requests.
      return await client.count(name, predicate);
    }
  };

  /** Safe to repeat: existing keys are not added again. Returns how many rows were added, if the service reports it. */
  const merge = async (rows: readonly Row[]): Promise<number | undefined> => {
    const { rowsToIpc } = await import("../../wire/rows/write-rows.ts");
    const bytes = rowsToIpc(columns, rows, { key });
    const query = { on: key, when_not_matched_insert_all: "true" };
    const send = async () =>
      parseInserted(await client.write("merge", name, { body: { type: streamType, bytes }, query }));
    return await retry(send, verdictOf, systemClock);
  };

  return {
    async create() {
      const { rowsToIpc } = await import("../../wire/rows/write-rows.ts");
      const bytes = rowsToIpc(columns, [], { key });
      const create = async () => {
        try {
          await client.write("create", name, { body: { type: streamType, bytes } });
        } catch (error) {
          // Another run was first, or the answer to this run's own request was lost.
          if (!(await client.exists(name))) throw error;
        }
      };
      await retry(create, verdictOf, systemClock);
    },
    all: async (names) => await query({ columns: names }),
    async last(order, names, predicate) {
      const wanted = [...new Set([...order, ...names])];
      const [row] = (await query({ columns: wanted, most: 1, orderBy: order })) ?? [];
      if (row === undefined) return undefined;
      const later = isAfter(order, row);
      // Almost always there is neither, and one request tells.
      if ((await count(`${later} OR ${predicate(row)}`)) === 0) return { row, matched: false };
      // A service that supports no order returns any row.
      const isLast = (await count(later)) === 0;
      const last = isLast ? row : lastRow([...((await query({ columns: wanted })) ?? [])], order);
      return last && { row: last, matched: (await count(predicate(last))) > 0 };
    },
    count,
    insertIfAbsent: async (row) => (await merge([row])) === 1,
    insert: async (rows) => void (await merge(rows)),
    // The service manages its own files.
    compact: async () => {},
  };
}

async function loadReader() {
  return await import("../../wire/rows/read-rows.ts");
}

/** Undefined if the answer is not what was requested. */
async function rowsOf({ body }: HttpResponse, columns: readonly string[]): Promise<Iterable<Row> | undefined> {
  try {
    return (await loadReader()).eachRow(body, columns);
  } catch {
    return undefined;
  }
}

function lanceQuery({ columns, most = allRows, orderBy }: LedgerQuery): unknown {
  const order = orderBy?.map((column_name) => ({ column_name, ascending: false, nulls_first: false }));
  return { columns, k: most, vector: [], prefilter: true, order_by: order };
}

/** The form of the namespace's document. It has no order, so a limit would return arbitrary rows. */
function documentQuery({ columns }: LedgerQuery): unknown {
  return { columns: { column_names: columns }, k: allRows, vector: {} };
}

/** An SQL predicate for the rows that come after this one by `order`. */
function isAfter(order: readonly string[], row: Row): string {
  return order
    .map((column, index) => {
      const equal = order.slice(0, index).map((before) => `${before} = ${literal(row[before])}`);
      return `(${[...equal, `${column} > ${literal(row[column])}`].join(" AND ")})`;
    })
    .join(" OR ");
}

function literal(cell: Cell | undefined): string {
  return typeof cell === "string" ? sqlText(cell) : String(cell ?? "NULL");
}
