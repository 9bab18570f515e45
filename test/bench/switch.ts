/**
 * What an application notices while its embedding model is replaced. It begins 50 searches and 50 writes a second (inserts
 * and updates in turn), while `migrate prepare` and `migrate up` run in processes of their own. At the end, each row must
 * have the text that the application wrote last, and the vector that the new model computes from it.
 * `npm run bench:switch [-- --rows N --rate N]`. Ends with 1 if an operation failed for good, or a row is wrong.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { newLength, oldLength, vectorOf } from "./models.ts";

// The engine warns about partitions without vectors, each time that the application optimizes its table.
process.env["LANCEDB_LOG"] = "error";
const { connect } = createRequire(import.meta.url)("@lancedb/lancedb") as typeof import("@lancedb/lancedb");

const { values } = parseArgs({
  options: { rows: { type: "string", default: "50000" }, rate: { type: "string", default: "50" } },
});
const rows = Number(values.rows);
const root = fileURLToPath(new URL("../..", import.meta.url));
const models = fileURLToPath(new URL("models.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));

type Phase = "before" | "prepare" | "up" | "after";
let phase: Phase = "before";
/** Milliseconds. */
const lengths = new Map<Phase, number>();
const waits: { readonly phase: Phase; readonly kind: "read" | "write"; readonly wait: number }[] = [];
const errors = new Map<string, number>();
/** What the application has written last, by id. */
const texts = new Map<number, string>();

writeProject();
await migrate("up", "--to", "1");
const table = await (await connect(join(folder, ".lancedb"), { readConsistencyInterval: 0 })).openTable("docs");
try {
  await addRows();
  await migrate("up", "--to", "2");
  const stop = new AbortController();
  const application = [repeat("read", read, stop.signal), repeat("write", write, stop.signal)];
  await during("before", () => sleep(10_000));
  await during("prepare", () => migrate("prepare"));
  await during("up", () => migrate("up"));
  await during("after", () => sleep(5_000));
  stop.abort();
  await Promise.all(application);
  report();
  await checkRows();
} finally {
  table.close();
  rmSync(folder, { recursive: true, force: true });
}

async function during(next: Phase, act: () => Promise<unknown>): Promise<void> {
  phase = next;
  const started = performance.now();
  await act();
  lengths.set(next, performance.now() - started);
}

function writeProject(): void {
  mkdirSync(join(folder, "migrations"));
  for (const name of ["node_modules", ".lancedb"]) mkdirSync(join(folder, name));
  symlinkSync(root, join(folder, "node_modules/lance-migrate"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  const options = `from: ["text"], key: "id", with: ${JSON.stringify(models)}, version: "2", batch: 256`;
  const index = "m.ivfFlat({ numPartitions: 32 })";
  const steps = [
    `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(${oldLength}) })`,
    `m.createIndex("docs", "embedding", ${index}), m.createIndex("docs", "id", m.btree())`,
    `m.reembedColumn("docs", "embedding", { type: m.vector(${newLength}), ${options}, index: ${index} })`,
  ];
  for (const [at, step] of steps.entries())
    writeFileSync(
      join(folder, `migrations/000${at + 1}_step.ts`),
      `import * as m from "lance-migrate";\nexport const up = [${step}];\n`,
    );
}

async function migrate(...args: readonly string[]): Promise<void> {
  const started = performance.now();
  const child = spawn(process.execPath, [join(root, "dist/bin.js"), ...args, "--quiet"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  console.log(`migrate ${args.join(" ")}: exit ${code}, ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

async function addRows(): Promise<void> {
  for (let id = 0; id < rows; id++) texts.set(id, `document ${id}`);
  await table.add([...texts].map(([id, text]) => ({ id, text, embedding: vectorOf(text, oldLength) })));
}

/** One operation after another, and at most 50 begin in a second. */
async function repeat(
  kind: "read" | "write",
  act: (turn: number) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const started = performance.now();
    const begun = phase;
    await insist(() => act(turn));
    waits.push({ phase: begun, kind, wait: performance.now() - started });
    if (kind === "write" && turn % 50 === 49) await optimize();
    const left = started + 1000 / Number(values.rate) - performance.now();
    if (left > 0) await sleep(left);
  }
}

/** Without it, searches soon read hundreds of files of one row. It is no operation of the application, which can do without. */
async function optimize(): Promise<void> {
  await table.optimize().catch((error: unknown) => note(error));
}

/** As an application would, which asks for the column's type again. Each error is counted. */
async function insist(act: () => Promise<void>): Promise<void> {
  for (let left = 5; ; left--) {
    try {
      return await act();
    } catch (error) {
      note(error);
      if (left === 0) {
        process.exitCode = 1;
        return;
      }
    }
  }
}

function note(error: unknown): void {
  const text = `${phase}: ${String(error).split("\n")[0]!.slice(0, 200)}`;
  errors.set(text, (errors.get(text) ?? 0) + 1);
}

async function read(turn: number): Promise<void> {
  const vector = vectorOf(`document ${turn % rows}`, await currentLength());
  await table.vectorSearch(vector).column("embedding").limit(5).toArray();
}

async function write(turn: number): Promise<void> {
  const id = turn % 2 === 0 ? rows + turn : Math.floor(Math.random() * rows);
  const text = `document ${id}, written in turn ${turn}`;
  const embedding = vectorOf(text, await currentLength());
  if (turn % 2 === 0) await table.add([{ id, text, embedding }]);
  else await table.update({ where: `id = ${id}`, values: { text, embedding } });
  texts.set(id, text);
}

async function currentLength(): Promise<number> {
  const { fields } = await table.schema();
  return (fields.find(({ name }) => name === "embedding")!.type as { readonly listSize: number }).listSize;
}

function report(): void {
  console.log(`\n| | operations a second | median wait | 99 of 100 | longest |\n|---|---|---|---|---|`);
  for (const [one, length] of lengths)
    for (const kind of ["read", "write"] as const) {
      const sorted = waits.filter((each) => each.kind === kind && each.phase === one).map(({ wait }) => wait);
      sorted.sort((a, b) => a - b);
      const at = (part: number) => `${(sorted[Math.ceil(part * sorted.length) - 1] ?? 0).toFixed(0)} ms`;
      console.log(
        `| ${kind}s ${one} | ${((sorted.length * 1000) / length).toFixed(0)} | ${at(0.5)} | ${at(0.99)} | ${at(1)} |`,
      );
    }
  console.log(errors.size === 0 ? "\nno errors" : "\nerrors, after which the application tried again:");
  for (const [text, count] of errors) console.log(`  ${count} × ${text}`);
}

async function checkRows(): Promise<void> {
  const found = (await table.query().select(["id", "text", "embedding"]).toArray()) as readonly {
    readonly id: bigint;
    readonly text: string;
    readonly embedding: Iterable<number> | null;
  }[];
  const isRight = ({ id, text, embedding }: (typeof found)[number]) =>
    texts.get(Number(id)) === text && String([...(embedding ?? [])]) === String(vectorOf(text, newLength));
  const wrong = found.filter((row) => !isRight(row)).length;
  console.log(`${texts.size} rows written, ${found.length} found, ${wrong} wrong`);
  if (wrong > 0 || found.length !== texts.size) process.exitCode = 1;
}
