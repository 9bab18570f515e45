/**
 * Clients of LanceDB at work in one process. Each line of the input is what one of them does; a line of the output is what
 * came of it. client.py does the same. `node client.ts URL KEY`
 */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import type { Task } from "./tasks.ts";

const lancedb = createRequire(import.meta.url)("@lancedb/lancedb") as typeof import("@lancedb/lancedb");
/** The copy that the client itself loads. */
const arrow = createRequire(createRequire(import.meta.url).resolve("@lancedb/lancedb"))(
  "apache-arrow",
) as typeof import("apache-arrow");

type Connection = Awaited<ReturnType<typeof lancedb.connect>>;
type Table = Awaited<ReturnType<Connection["openTable"]>>;

const [hostOverride, apiKey] = process.argv.slice(2);
const once = { retries: 0, connectRetries: 0, readRetries: 0 };
const connections = new Map<number, Promise<Connection>>();
const tables = new Map<string, Promise<Table>>();

const field = (name: string, type: import("apache-arrow").DataType) => new arrow.Field(name, type, true);
const schema = new arrow.Schema([
  field("id", new arrow.Int64()),
  field("value", new arrow.Int32()),
  field("text", new arrow.Utf8()),
  field("vector", new arrow.FixedSizeList(4, field("item", new arrow.Float32()))),
]);

createInterface({ input: process.stdin }).on("line", async (line) => {
  const task = JSON.parse(line) as Task;
  let isSent = false;
  try {
    const db = await (connections.get(task.client) ?? connectionOf(task));
    const table = task.what === "create" ? undefined : await tableOf(db, task);
    isSent = true;
    const value = table === undefined ? await create(db, task) : await act(table, task);
    answer({ number: task.number, value });
  } catch (error) {
    answer({ number: task.number, error: String(error), isSent });
  }
});

function answer(words: object): void {
  process.stdout.write(`${JSON.stringify(words)}\n`);
}

/** One that does not repeat what may have been done is told of it. */
function connectionOf({ client, repeats }: Task): Promise<Connection> {
  const clientConfig = repeats ? {} : { retryConfig: once };
  const connection = lancedb.connect("db://crowd", { apiKey: apiKey!, hostOverride: hostOverride!, clientConfig });
  connections.set(client, connection);
  return connection;
}

async function tableOf(db: Connection, { client, table }: Task): Promise<Table> {
  const key = `${client} ${table}`;
  const known = tables.get(key);
  if (known !== undefined) return await known;
  const opened = await db.openTable(table);
  tables.set(key, Promise.resolve(opened));
  return opened;
}

async function create(db: Connection, task: Task): Promise<void> {
  await db.createTable(task.table, rowsOf(task));
}

function rowsOf({ rows = [] }: Task) {
  return lancedb.makeArrowTable([...rows] as unknown as Record<string, unknown>[], { schema });
}

async function act(table: Table, task: Task): Promise<unknown> {
  const { what, where = "", column = "" } = task;
  if (what === "add") return await table.add(rowsOf(task));
  if (what === "merge")
    return await table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rowsOf(task));
  if (what === "update") return await table.update({ where, values: new Map(Object.entries(task.values!)) });
  if (what === "delete") return await table.delete(where);
  if (what === "read") {
    const found = await table.query().where(where).select(["id", "value", "text"]).toArray();
    return found.map((row) => [Number(row.id), row.value === null ? null : Number(row.value), row.text]);
  }
  if (what === "count") return await table.countRows(where);
  if (what === "index") return await table.createIndex(column, { config: indexes[column]!(), replace: true });
  return await table.alterColumns([{ path: column, dataType: task.isWide ? new arrow.Int64() : new arrow.Int32() }]);
}

const indexes: Readonly<Record<string, () => import("@lancedb/lancedb").Index>> = {
  id: () => lancedb.Index.btree(),
  text: () => lancedb.Index.fts(),
  vector: () => lancedb.Index.ivfFlat({ numPartitions: 2 }),
};
