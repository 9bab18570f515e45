/** Reads whole rows of small tables, such as the ledger, without apache-arrow. */
import type { Row } from "../wire/rows/ipc-rows.ts";
import type { NativeTable } from "./engine.ts";

/** The rows that are wanted. `last`: only the last one by the order of these columns. */
interface WantedRows {
  readonly columns: readonly string[];
  readonly last?: readonly string[] | undefined;
}

export async function readRowsOf(table: NativeTable, { columns, last }: WantedRows): Promise<Iterable<Row>> {
  const query = table.query();
  // The selection matters: with ten thousand rows, sorting whole rows takes twice as long.
  query.selectColumns([...columns]);
  if (last !== undefined) {
    query.orderBy(last.map((columnName) => ({ columnName, ascending: false, nullsFirst: false })));
    query.limit(1);
  }
  // Loaded while the engine works.
  const [batches, { eachRow }] = await Promise.all([query.execute(), import("../wire/rows/read-rows.ts")]);
  const read: Iterable<Row>[] = [];
  for (let batch = await batches.next(); batch !== null; batch = await batches.next())
    read.push(eachRow(batch, columns));
  return inTurn(read);
}

function* inTurn(batches: readonly Iterable<Row>[]): Generator<Row, void> {
  for (const batch of batches) yield* batch;
}
