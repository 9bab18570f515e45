/**
 * What `migrate up` adds to the engine's own call on a large table: one step, as a migration, against a bare script that
 * makes the same call through @lancedb/lancedb. Whole processes, interleaved, each on a fresh copy of the table: read the
 * ratios. The same on a table of 1,000 rows shows what does not depend on the rows, which is subtracted.
 * `npm run bench large [-- --rows N --rounds N --only WORD]`.
 */
import { spawnSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "10000000" },
    rounds: { type: "string", default: "7" },
    only: { type: "string", default: "" },
  },
});
const rows = Number(values.rows);
const rounds = Number(values.rounds);
const few = 1_000;
const vectorLength = 8;
const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "dist/bin.js");
const work = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));
const temporary = join(work, "tmp");
mkdirSync(temporary);
const require = createRequire(import.meta.url);

interface Case {
  readonly name: string;
  readonly step: string;
  /** The engine's own call: JavaScript with `table`, `Index` of the package and types of apache-arrow. */
  readonly call: string;
}

const cases: readonly Case[] = [
  {
    name: "retype, not null",
    step: `retypeColumn("items", "amount", int64())`,
    call: `table.alterColumns([{ path: "amount", dataType: new Int64() }])`,
  },
  {
    name: "retype, nullable",
    step: `retypeColumn("items", "score", int64())`,
    call: `table.alterColumns([{ path: "score", dataType: new Int64() }])`,
  },
  {
    name: "retype, narrower",
    step: `retypeColumn("items", "id", int32())`,
    call: `table.alterColumns([{ path: "id", dataType: new Int32() }])`,
  },
  {
    name: "addColumn, from nullable",
    step: `addColumn("items", "double", int64(), { as: "score * 2" })`,
    call: `table.addColumns([{ name: "double", valueSql: "cast(score * 2 as bigint)" }])`,
  },
  {
    name: "addColumn, from not null",
    step: `addColumn("items", "double", int64(), { as: "id * 2" })`,
    call: `table.addColumns([{ name: "double", valueSql: "cast(id * 2 as bigint)" }])`,
  },
  {
    name: "addColumn, not null",
    step: `addColumn("items", "double", int64().notNull(), { as: "id * 2" })`,
    call: `table.addColumns([{ name: "double", valueSql: "cast(id * 2 as bigint)" }])`,
  },
  {
    name: "addColumn, 0",
    step: `addColumn("items", "zero", int64(), { as: "0" })`,
    call: `table.addColumns([{ name: "zero", valueSql: "cast(0 as bigint)" }])`,
  },
  {
    name: "addColumn, 0, not null",
    step: `addColumn("items", "zero", int64().notNull(), { as: "0" })`,
    call: `table.addColumns([{ name: "zero", valueSql: "cast(0 as bigint)" }])`,
  },
  {
    name: "createIndex, btree",
    step: `createIndex("items", "amount", btree())`,
    call: `table.createIndex("amount", { config: Index.btree() })`,
  },
  {
    name: "createIndex, ivfFlat",
    step: `createIndex("items", "embedding", ivfFlat({ numPartitions: 4 }))`,
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

try {
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
} finally {
  rmSync(work, { recursive: true, force: true });
}

function empty(): Measured {
  return { up: { wall: [], cpu: [] }, script: { wall: [], cpu: [] } };
}

/** A project whose first migration has created the table, to which rows were added since. */
async function prepare(size: number): Promise<string> {
  const folder = join(work, String(size));
  mkdirSync(join(folder, "migrations"), { recursive: true });
  for (const name of ["node_modules", ".lancedb"]) mkdirSync(join(folder, name));
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const columns = `id: int64().notNull(), amount: int32().notNull(), score: int32(), embedding: vector(${vectorLength})`;
  writeFileSync(
    join(folder, "migrations", "0001_create_items.ts"),
    `import { createTable, int32, int64, vector } from "lance-migrate";\n\nexport const up = [createTable("items", { ${columns} })];\n`,
  );
  run([bin, "up", "--quiet"], folder);
  await fill(folder, size);
  return folder;
}

/** Adds the rows, a million at a time. */
async function fill(folder: string, size: number): Promise<void> {
  const { connect } = require("@lancedb/lancedb") as typeof import("@lancedb/lancedb");
  const arrow = require("apache-arrow") as typeof import("apache-arrow");
  const db = await connect(join(folder, ".lancedb"));
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
  const builder = step.slice(0, step.indexOf("("));
  const copy = join(work, "copy");
  const names = [builder, ...["int32", "int64", "btree", "ivfFlat"].filter((type) => step.includes(`${type}(`))];
  const migration = `import { ${names.join(", ")} } from "lance-migrate";\n\nexport const up = [${step}];\n`;
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
    writeFileSync(join(copy, "migrations", `0002_${builder}.ts`), migration);
    writeFileSync(join(copy, "bare.mjs"), text);
    one();
  }

  function measureOne(args: readonly string[], { wall, cpu }: Times): void {
    const { time, used } = run(args, copy);
    wall.push(time);
    cpu.push(used);
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

/** The milliseconds that a process takes, and those of processor time that it uses. */
function run(args: readonly string[], folder: string): { readonly time: number; readonly used: number } {
  const file = join(work, "used");
  // The process itself says how much it used; its parent can't ask on every system.
  const preload = `data:text/javascript,import{writeFileSync}from"node:fs";process.on("exit",()=>{const{user,system}=process.cpuUsage();writeFileSync(${JSON.stringify(file)},String((user+system)/1e3))})`;
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ["--import", preload, ...args], {
    cwd: folder,
    env: { ...process.env, TMPDIR: temporary }, // the engine leaves files there
    stdio: ["ignore", "ignore", "pipe"],
  });
  const time = performance.now() - started;
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${String(stderr)}`);
  return { time, used: Number(readFileSync(file, "utf8")) };
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
