/**
 * npm run check indexes [-- NAME …]: whether versions of LanceDB's clients find with an index that the engine of this tool
 * built what there is to find, before and after they append rows. Prints the table of docs/clients.md.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as arrow from "apache-arrow";
import { creationOptions } from "../../src/engine/engine.ts";
import { lancedb } from "../support/tables.ts";
import { startClient, type Client, type Task } from "./client.ts";

const usual = [
  "js-0.22.3",
  "js-0.27.2",
  "js-0.30.0",
  "js-0.37.1",
  "py-0.25.3",
  "py-0.27.1",
  "py-0.30.2",
  "py-0.33.0",
  "py-0.37.1",
  "py-0.40.0",
];
const names = process.argv.length > 2 ? process.argv.slice(2) : usual;

const rows = 600;
const field = (name: string, type: arrow.DataType) => new arrow.Field(name, type, true);
const schema = new arrow.Schema([
  field("id", new arrow.Int64()),
  field("n", new arrow.Int32()),
  field("text", new arrow.Utf8()),
  field("tags", new arrow.List(field("item", new arrow.Utf8()))),
  field("vector", new arrow.FixedSizeList(8, field("item", new arrow.Float32()))),
]);
const rowOf = (id: number) => ({
  id,
  n: id % 5,
  text: `Word number ${id}`,
  tags: ["all", `t${id}`],
  vector: Array.from({ length: 8 }, (_, at) => Math.sin(id * (at + 1))),
});

const { Index } = lancedb;
const vectors = { numPartitions: 2 };
const search = { what: "search", vector: rowOf(0).vector, k: 1_000 };
const filter = (where: string) => ({ what: "count", where });

/** What is found with each kind of index: `all` rows, or the number of them. */
const kinds: Readonly<
  Record<
    string,
    {
      readonly column: string;
      readonly config: () => ReturnType<typeof Index.btree>;
      readonly find: Task;
      readonly part?: number;
    }
  >
> = {
  btree: { column: "n", config: () => Index.btree(), find: filter("n = 3"), part: 5 },
  bitmap: { column: "n", config: () => Index.bitmap(), find: filter("n = 3"), part: 5 },
  labelList: { column: "tags", config: () => Index.labelList(), find: filter("array_has(tags, 'all')") },
  fts: {
    column: "text",
    config: () => Index.fts(),
    find: { what: "textSearch", query: "Words", column: "text", k: 1_000 },
  },
  fm: { column: "text", config: () => Index.fm(), find: filter("contains(text, 'Word')") },
  ivfFlat: { column: "vector", config: () => Index.ivfFlat(vectors), find: search },
  ivfPq: { column: "vector", config: () => Index.ivfPq({ ...vectors, numSubVectors: 2 }), find: search },
  ivfRq: { column: "vector", config: () => Index.ivfRq(vectors), find: search },
  hnswPq: { column: "vector", config: () => Index.hnswPq({ ...vectors, numSubVectors: 2 }), find: search },
  hnswSq: { column: "vector", config: () => Index.hnswSq(vectors), find: search },
};

const folder = mkdtempSync(join(tmpdir(), "lance-migrate-indexes-"));
try {
  const cells = new Map<string, string[]>();
  for (const name of names) {
    const client = startClient(name);
    for (const kind of Object.keys(kinds)) cells.set(kind, [...(cells.get(kind) ?? []), await tried(client, kind)]);
    client.stop();
    process.stderr.write(`${name}\n`);
  }
  const line = (words: readonly string[]) => process.stdout.write(`| ${words.join(" | ")} |\n`);
  line(["index", ...names]);
  line(["---", ...names.map(() => "---")]);
  for (const [kind, found] of cells) line([kind, ...found]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function tried(client: Client, kind: string): Promise<string> {
  const { column, config, find, part = 1 } = kinds[kind]!;
  const made = join(folder, kind, "made");
  const copy = join(folder, kind, client.name);
  const db = await lancedb.connect(made);
  if ((await db.tableNames()).length === 0) {
    // Of the formats that all of these clients read, the newest.
    const storageOptions = creationOptions({ dataStorageVersion: "2.1" });
    const first = Array.from({ length: rows }, (_, id) => rowOf(id));
    const table = await db.createTable("t", lancedb.makeArrowTable(first, { schema }), { storageOptions });
    await table.createIndex(column, { config: config(), name: "i" });
  }
  cpSync(made, copy, { recursive: true });
  const answers = [
    await ask(client, copy, { what: "indices" }),
    await ask(client, copy, find, rows / part),
    await ask(client, copy, { what: "append", rows: Array.from({ length: part }, (_, at) => rowOf(rows + at)) }),
    await ask(client, copy, find, rows / part + 1),
    await ask(client, copy, { what: "optimize" }),
    await ask(client, copy, find, rows / part + 1),
  ];
  return answers.filter((one) => one !== "").join("; ") || "right";
}

async function ask(client: Client, copy: string, task: Task, expected?: number): Promise<string> {
  const answer = await client.ask(copy, task);
  if ("error" in answer) return `${task.what}: ${answer.error.split("\n")[0]!.slice(0, 80)}`;
  if (task.what === "indices") return (answer.value as readonly string[]).includes("i") ? "" : "not listed";
  if (expected === undefined) return "";
  const found = Array.isArray(answer.value) ? answer.value.length : Number(answer.value);
  return found === expected ? "" : `${found} of ${expected}`;
}
