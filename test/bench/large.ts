/**
 * What `migrate up` adds to the engine's own call on a large table: one step, as a migration, against a bare script that
 * makes the same call through @lancedb/lancedb. Whole processes, interleaved, each on a fresh copy of the table: read the
 * ratios. The same on a table of 1,000 rows shows what does not depend on the rows, which is subtracted.
 * `npm run bench large [-- --rows N --rounds N --only WORD]`.
 */
import { linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { measureSuccess } from "./measure.ts";
import { bin, lancedb, optionsOf, root, temporaryFolder, writeMigration, writeProject } from "./project.ts";

const values = optionsOf({ rows: "10000000", rounds: "7", only: "" });
const [rows, rounds] = [Number(values.rows), Number(values.rounds)];
const few = 1_000;
const vectorLength = 8;
const work = temporaryFolder();
const temporary = join(work, "tmp");
mkdirSync(temporary);
const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");

interface Case {
  readonly name: string;
  readonly step: string;
  /** The engine's own call: JavaScript with `table`, `Index` of the package and types of apache-arrow. */
  readonly call: string;
}

const cases: readonly Case[] = [
  {
    name: "retype, not null",
    step: `m.retypeColumn("items", "amount", m.int64())`,
    call: `table.alterColumns([{ path: "amount", dataType: new Int64() }])`,
  },
  {
    name: "retype, nullable",
    step: `m.retypeColumn("items", "score", m.int64())`,
    call: `table.alterColumns([{ path: "score", dataType: new Int64() }])`,
  },
  {
    name: "retype, narrower",
    step: `m.retypeColumn("items", "id", m.int32())`,
    call: `table.alterColumns([{ path: "id", dataType: new Int32() }])`,
  },
  {
    name: "addColumn, from nullable",
    step: `m.addColumn("items", "double", m.int64(), { as: "score * 2" })`,
    call: `table.addColumns([{ name: "double", valueSql: "cast(score * 2 as bigint)" }])`,
  },
  {
    name: "addColumn, from not null",
    step: `m.addColumn("items", "double", m.int64(), { as: "id * 2" })`,
    call: `table.addColumns([{ name: "double", valueSql: "cast(id * 2 as bigint)" }])`,
  },
  {
    name: "addColumn, not null",
    step: `m.addColumn("items", "double", m.int64().notNull(), { as: "id * 2" })`,
    call: `table.addColumns([{ name: "double", valueSql: "cast(id * 2 as bigint)" }])`,
  },
  {
    name: "addColumn, 0",
    step: `m.addColumn("items", "zero", m.int64(), { as: "0" })`,
    call: `table.addColumns([{ name: "zero", valueSql: "cast(0 as bigint)" }])`,
  },
  {
    name: "addColumn, 0, not null",
    step: `m.addColumn("items", "zero", m.int64().notNull(), { as: "0" })`,
    call: `table.addColumns([{ name: "zero", valueSql: "cast(0 as bigint)" }])`,
  },
  {
    name: "createIndex, btree",
    step: `m.createIndex("items", "amount", m.btree())`,
    call: `table.createIndex("amount", { config: Index.btree() })`,
  },
  {
    name: "createIndex, ivfFlat",
    step: `m.createIndex("items", "embedding", m.ivfFlat({ numPartitions: 4 }))`,
    call: `table.createIndex("embedding", { config: Index.ivfFlat({ numPartitions: 4 }) })`,
  },
].filter(({ name }) => name.includes(values.only));

interface Times {
  readonly wall: number[];
  readonly cpu: number[];
}

interface Measured {
  readonly up: Times;
  readonly script: Times;
}

const projects = new Map<number, string>();
for (const size of [few, rows]) projects.set(size, await prepare(size));
console.log(`${rows} rows, the least of ${rounds} interleaved rounds, Node ${process.versions.node}`);
const kinds = ["elapsed: all", "elapsed: rows", "CPU: all", "CPU: rows"];
console.log(" ".repeat(24) + kinds.map((kind) => kind.padStart(25)).join(""));
console.log(
  line(
    "",
    kinds.flatMap(() => ["up, ms", "script", "ratio"]),
  ),
);
const measured = cases.map((one) => ({ one, small: empty(), large: empty() }));
for (let round = -1; round < rounds; round++)
  for (const { one, small, large } of measured) {
    const kept = round >= 0; // a first round warms the page cache
    measure(one, projects.get(few)!, kept ? small : empty());
    measure(one, projects.get(rows)!, kept ? large : empty());
  }
for (const { one, small, large } of measured) console.log(report(one, small, large));

function empty(): Measured {
  return { up: { wall: [], cpu: [] }, script: { wall: [], cpu: [] } };
}

/** A project whose first migration has created the table, to which rows were added since. */
async function prepare(size: number): Promise<string> {
  const folder = join(work, String(size));
  const columns = `id: m.int64().notNull(), amount: m.int32().notNull(), score: m.int32(), embedding: m.vector(${vectorLength})`;
  writeProject(folder, { steps: [`m.createTable("items", { ${columns} })`] });
  run([bin, "up", "--quiet"], folder);
  await fill(folder, size);
  return folder;
}

/** Adds the rows, a million at a time. */
async function fill(folder: string, size: number): Promise<void> {
  const db = await lancedb.connect(join(folder, ".lancedb"));
  const table = await db.openTable("items");
  const schema = await table.schema();
  for (let at = 0; at < size; at += 1_000_000) {
    const length = Math.min(1_000_000, size - at);
    const numbers = Int32Array.from({ length }, (_, index) => (index * 7_919) % 1_000_003);
    const vectors = Float32Array.from({ length: length * vectorLength }, (_, index) => ((index * 31) % 1_009) / 1_009);
    const children = [
      arrow.makeData({ type: new arrow.Int64(), data: BigInt64Array.from(numbers, (_, index) => BigInt(at + index)) }),
      arrow.makeData({ type: new arrow.Int32(), data: numbers }),
      arrow.makeData({
        type: new arrow.Int32(),
        data: numbers,
        nullCount: -1,
        nullBitmap: new Uint8Array(Math.ceil(length / 8)).fill(0b0111_1111),
      }),
      arrow.makeData({
        type: schema.fields[3]!.type as InstanceType<typeof arrow.FixedSizeList>,
        length,
        nullCount: 0,
        child: arrow.makeData({ type: new arrow.Float32(), data: vectors }),
      }),
    ];
    const batch = new arrow.RecordBatch(schema, arrow.makeData({ type: new arrow.Struct(schema.fields), children }));
    await table.add(new arrow.Table([batch]));
  }
  db.close();
}

/** Runs both once, each on a fresh copy, in turns so that neither always comes first. */
function measure({ step, call }: Case, project: string, { up, script }: Measured): void {
  const copy = join(work, "copy");
  const text = `import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(import.meta.url)});
const { connect, Index } = require("@lancedb/lancedb");
const { Int32, Int64 } = require("apache-arrow");
const db = await connect(".lancedb");
const table = await db.openTable("items");
await ${call};
`;
  const both = [() => measureOne([bin, "up", "--quiet"], up), () => measureOne(["bare.mjs"], script)];
  for (const one of up.wall.length % 2 === 0 ? both : both.toReversed()) {
    rmSync(copy, { recursive: true, force: true });
    copyTree(project, copy);
    writeMigration(copy, 2, step);
    writeFileSync(join(copy, "bare.mjs"), text);
    one();
  }

  function measureOne(args: readonly string[], times: Times): void {
    const { wall, cpu } = run(args, copy);
    times.wall.push(wall);
    times.cpu.push(cpu);
  }
}

/** Copies a folder by hard links: the engine never changes a file that it has written. */
function copyTree(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [old, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(old, copy);
    else if (entry.isSymbolicLink()) symlinkSync(root, copy);
    else linkSync(old, copy);
  }
}

/** The engine leaves files in the folder for temporary ones. */
function run(args: readonly string[], folder: string) {
  return measureSuccess(args, folder, { TMPDIR: temporary });
}

function report({ name }: Case, small: Measured, large: Measured): string {
  const cells = (["wall", "cpu"] as const).flatMap((kind) => {
    const whole = { up: least(large.up[kind]), script: least(large.script[kind]) };
    const alone = { up: whole.up - least(small.up[kind]), script: whole.script - least(small.script[kind]) };
    return [whole, alone].flatMap(({ up, script }) => [up.toFixed(0), script.toFixed(0), (up / script).toFixed(2)]);
  });
  return line(name, cells);
}

function least(numbers: readonly number[]): number {
  return numbers.length === 0 ? Number.NaN : Math.min(...numbers);
}

function line(name: string, cells: readonly string[]): string {
  return name.padEnd(24) + cells.map((cell, at) => cell.padStart(at % 3 === 0 ? 9 : 8)).join("");
}
