/**
 * One version of LanceDB's JavaScript client at work: reads a task from each line of stdin, and answers each with a line.
 * It is plain JavaScript, and takes the client from the folder it is told, so that it runs with whatever is installed there.
 */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.argv[2]}/package.json`);
const lancedb = require("@lancedb/lancedb");

/** Values as JSON can hold them, equal where the values are equal, whichever client read them. */
function plain(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.getTime();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value !== "object") return value;
  if (typeof value.toJSON === "function") return plain(value.toJSON());
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value, plain);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** Rows as the client's own functions want them. */
function toRow(row) {
  const { raw, ...rest } = row;
  return raw === undefined ? rest : { ...rest, raw: raw === null ? null : Buffer.from(raw, "hex") };
}

async function toArrow(table, rows) {
  return lancedb.makeArrowTable(rows.map(toRow), { schema: await table.schema() });
}

async function read(table, { where, select }) {
  let query = table.query();
  if (where !== undefined) query = query.where(where);
  if (select !== undefined) query = query.select(select);
  return (await query.toArray()).map(plain);
}

const work = {
  open: async (table) => (await table.schema()).fields.map(({ name }) => name),
  scan: async (table, task) => await read(table, task),
  count: async (table, { where }) => await table.countRows(where),
  filter: async (table, task) => await read(table, task),
  search: async (table, { vector, k }) => {
    const found = await table.query().nearestTo(vector).limit(k).toArray();
    return found.map((row) => plain(row).id);
  },
  textSearch: async (table, { query, column, k }) => {
    const found = await table
      .query()
      .fullTextSearch(query, { columns: [column] })
      .limit(k)
      .toArray();
    return found.map((row) => plain(row).id);
  },
  append: async (table, { rows }) => void (await table.add(await toArrow(table, rows))),
  update: async (table, { where, values }) => void (await table.update({ where, values })),
  delete: async (table, { where }) => void (await table.delete(where)),
  mergeInsert: async (table, { rows }) => {
    const merge = table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll();
    await merge.execute(await toArrow(table, rows));
  },
  optimize: async (table) => void (await table.optimize()),
  addColumn: async (table, { name, valueSql }) => void (await table.addColumns([{ name, valueSql }])),
  dropColumn: async (table, { name }) => void (await table.dropColumns([name])),
  rename: async (table, { name, rename }) => void (await table.alterColumns([{ path: name, rename }])),
  createIndex: async (table, { name }) => void (await table.createIndex(name, { config: lancedb.Index.btree() })),
  version: async (table) => await table.version(),
  indices: async (table) => (await table.listIndices()).map(({ name }) => name),
  all: async (table, { steps }) => {
    for (const step of steps) await work[step.what](table, step);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const task = JSON.parse(line);
  let answer;
  try {
    const db = await lancedb.connect(task.folder);
    const value = await work[task.what](await db.openTable("t"), task);
    answer = { value: value ?? null };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
