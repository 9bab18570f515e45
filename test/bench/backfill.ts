/**
 * What `migrate up` takes to compute a column with code, beside two scripts that write the same values with
 * @lancedb/lancedb: one appends them to a new table, one merges them into the column by key. Whole processes; the code is a
 * module that takes its vectors from a pool of random numbers.
 * `npm run bench backfill [-- --rows N --length N --rounds N --values numbers]`; with `--values numbers`, the module
 * returns arrays of numbers and no typed arrays.
 */
import { cpSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { measureSuccess, median, type Measured } from "./measure.ts";
import { bin, lancedb, optionsOf, temporaryFolder, writeMigration, writeProject } from "./project.ts";

const values = optionsOf({ rows: "1000000", length: "384", rounds: "3", values: "typed arrays" });
const [rows, length, rounds] = [values.rows, values.length, values.rounds].map(Number) as [number, number, number];
const work = temporaryFolder();
const batch = 50_000;

/** The module of the migration, and what the scripts take their vectors from. */
const embedder = `const pool = new Float32Array(2 ** 20);
let seed = 1;
for (let index = 0; index < pool.length; index++) pool[index] = (seed = (seed * 48271) % 2147483647) / 2147483647 - 0.5;
export function vectorOf(text) {
  const start = (Number(/\\d+/.exec(text)[0]) * 7919) % (pool.length - ${length});
  const vector = pool.subarray(start, start + ${length});
  return ${values.values === "numbers" ? "Array.from(vector)" : "vector"};
}
export default (rows) => rows.map(({ text }) => vectorOf(text));
`;

const bare = `import { vectorOf } from "./embed.mjs";
import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(import.meta.url)});
const lancedb = require("@lancedb/lancedb");
const { Field, FixedSizeList, Float32, Int64, RecordBatch, Schema, Struct, Table, Utf8, makeData } = require("apache-arrow");
const vector = new FixedSizeList(${length}, new Field("item", new Float32(), true));
const schema = new Schema([new Field("id", new Int64(), true), new Field("embedding", vector, true)]);
function batchOf(first, size) {
  const ids = BigInt64Array.from({ length: size }, (_, index) => BigInt(first + index));
  const floats = new Float32Array(size * ${length});
  for (let index = 0; index < size; index++) floats.set(vectorOf("document " + (first + index)), index * ${length});
  const child = makeData({ type: new Float32(), length: floats.length, nullCount: 0, data: floats });
  const children = [
    makeData({ type: new Int64(), length: size, nullCount: 0, data: ids }),
    makeData({ type: vector, length: size, nullCount: 0, child }),
  ];
  return new Table([new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: size, nullCount: 0, children }))]);
}
const db = await lancedb.connect(".lancedb");
`;

const append = `${bare}
const table = await db.createEmptyTable("vectors", schema);
for (let first = 0; first < ${rows}; first += ${batch}) await table.add(batchOf(first, Math.min(${batch}, ${rows} - first)));
`;

const merge = `${bare}
const table = await db.openTable("docs");
await table.addColumns(new Field("embedding", vector, true));
for (let first = 0; first < ${rows}; first += ${batch})
  await table.mergeInsert("id").whenMatchedUpdateAll().useIndex(false).execute(batchOf(first, Math.min(${batch}, ${rows} - first)));
`;

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly table: string;
}

const cases: readonly Case[] = [
  { name: "append to a new table", args: ["append.mjs"], table: "vectors" },
  { name: "merge into the column", args: ["merge.mjs"], table: "docs" },
  { name: "migrate up", args: [bin, "up"], table: "docs" },
];

const pristine = join(work, "pristine");
writeProject(pristine, {
  steps: [`m.createTable("docs", { id: m.int64(), text: m.utf8() })`],
  files: { "embed.mjs": embedder, "append.mjs": append, "merge.mjs": merge },
});
measureSuccess([bin, "up"], pristine);
const docs = await (await lancedb.connect(join(pristine, ".lancedb"))).openTable("docs");
for (let first = 0; first < rows; first += batch)
  await docs.add(
    Array.from({ length: Math.min(batch, rows - first) }, (_, index) => ({
      id: first + index,
      text: `document ${first + index}, which has some more words so that it is about as long as a title is`,
    })),
  );
const options = `{ from: ["text"], key: "id", with: "./embed.mjs", version: "1" }`;
const added = `m.addColumn("docs", "embedding", m.vector(${length}))`;
writeMigration(pristine, 2, `${added}, m.backfillColumn("docs", "embedding", ${options})`);

const results = cases.map((one) => ({ ...one, runs: [] as (Measured & { readonly bytes: number })[] }));
for (let round = 0; round < rounds; round++)
  for (const { name, args, table, runs } of results) {
    const folder = join(work, "project");
    cpSync(pristine, folder, { recursive: true, verbatimSymlinks: true });
    const before = bytesOf(join(folder, ".lancedb", `${table}.lance`));
    const run = measureSuccess(args, folder);
    runs.push({ ...run, bytes: bytesOf(join(folder, ".lancedb", `${table}.lance`)) - before });
    console.error(`${name}: ${(run.wall / 1000).toFixed(1)} s, ${run.peak.toFixed(0)} MB`);
    rmSync(folder, { recursive: true });
  }
print();

function print(): void {
  const figures = results.map(({ name, runs }) => ({
    name,
    wall: median(runs.map(({ wall }) => wall)),
    cpu: median(runs.map(({ cpu }) => cpu)),
    peak: Math.max(...runs.map(({ peak }) => peak)),
    bytes: median(runs.map(({ bytes }) => bytes)),
  }));
  const [reference] = figures;
  const form = values.values === "numbers" ? "arrays of numbers" : "typed arrays";
  console.log(`${rows} rows × ${length} floats, ${form}, ${rounds} interleaved rounds, Node ${process.versions.node}`);
  console.log(`${"".padEnd(24)}    wall s     cpu s   MB on disk   peak MB   x wall    x cpu   x disk`);
  for (const { name, wall, cpu, peak, bytes } of figures) {
    const [seconds, used] = [wall, cpu].map((time) => (time / 1000).toFixed(1).padStart(10));
    const ratios = [wall / reference!.wall, cpu / reference!.cpu, bytes / reference!.bytes];
    const others = ratios.map((ratio) => ratio.toFixed(2).padStart(9)).join("");
    console.log(
      `${name.padEnd(24)}${seconds}${used}${(bytes / 2 ** 20).toFixed(0).padStart(13)}${peak.toFixed(0).padStart(10)}${others}`,
    );
  }
}

function bytesOf(folder: string): number {
  const files =
    statSync(folder, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(folder, { recursive: true });
  return files.reduce((sum, file) => sum + statSync(join(folder, String(file))).size, 0);
}
