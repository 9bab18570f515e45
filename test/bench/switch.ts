/**
 * What an application notices while its embedding model is replaced. It makes 20 operations a second, one after another, of
 * six kinds in a drawn order: adds, updates, merges, deletes, vector searches and text searches, on a table with indexes
 * of the kinds ivfPq, fts and btree, while `migrate prepare` and `migrate up` run in processes of their own. At the end,
 * each row must have the text that the application wrote last, and the vector that the new model computes from it.
 * Before, another process keeps one processor busy for 30 seconds: what a machine loses to any other work.
 * `npm run bench switch [-- --rows N --rate N --wait MS --without S]`; needs Linux. `wait`: what a call of the model takes,
 * for 256 rows. With `without`, nothing is prepared, and the phase of `prepare` takes S seconds. Each operation makes a
 * version of the table, which makes the later ones longer, so only phases at the same time can be compared. Ends with 1 if
 * an operation failed for good, or a row is wrong. Processor time is that of the application's process during an operation,
 * which has no other then.
 */
import { spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { newLength, oldLength, vectorOf } from "./models.ts";

// The engine warns about partitions without vectors, each time that the application optimizes its table.
process.env["LANCEDB_LOG"] = "error";
const { save } = await import("../../src/features/app/app.ts");
const { lancedb, migrate: runMigrate, optionsOf, temporaryFolder, writeProject } = await import("./project.ts");

const values = optionsOf({ rows: "100000", rate: "20", wait: "20", without: "" });
process.env["MODEL_WAIT"] = values.wait;
const rows = Number(values.rows);
const code = fileURLToPath(new URL("models.ts", import.meta.url));
const modelOf = (length: number) => (documents: readonly { readonly text: string }[]) =>
  documents.map(({ text }) => vectorOf(text, length));
const models = { [oldLength]: modelOf(oldLength), 2: modelOf(newLength) };
const folder = temporaryFolder();

const kinds = { add, update, merge, delete: remove, vectorSearch, textSearch };
type Kind = keyof typeof kinds;

type Phase = "before" | "busy" | "prepare" | "up" | "after";
let phase: Phase = "before";
/** Milliseconds. */
const lengths = new Map<Phase, number>();
const operations: { readonly phase: Phase; readonly kind: Kind; readonly wait: number; readonly cpu: number }[] = [];
const errors = new Map<string, number>();
/** What the application has written last, by id. */
const texts = new Map<number, string>();
const deleted = new Set<number>();
let largest = 0;
let optimized = performance.now();

write();
await migrate("up", "--to", "1");
const table = await (await lancedb.connect(join(folder, ".lancedb"), { readConsistencyInterval: 0 })).openTable("docs");
await addRows();
await migrate("up", "--to", "2");
const alone = await coverage();
const watching = setInterval(() => (largest = Math.max(largest, bytesIn(join(folder, ".lancedb")))), 1_000);
const stop = new AbortController();
const application = run(stop.signal);
await during("before", () => sleep(30_000));
await during("busy", () => keepBusy(30_000));
const before = await coverage();
await during("prepare", () => (values.without === "" ? migrate("prepare") : sleep(Number(values.without) * 1_000)));
await during("up", () => (values.without === "" ? migrate("up") : sleep(20_000)));
await during("after", () => sleep(10_000));
stop.abort();
await application;
clearInterval(watching);
report();
console.log("\nrows without an index");
console.log(`- before the application ran: ${alone}`);
console.log(`- after it ran alone: ${before}`);
console.log(`- at the end: ${await coverage()}`);
await optimize();
console.log(`- when it has optimized the table: ${await coverage()}`);
const final = bytesIn(join(folder, ".lancedb"));
console.log(
  `largest size on disk: ${(largest / 1e6).toFixed(0)} MB, ${(largest / final).toFixed(2)} × that at the end`,
);
if (values.without === "") await checkRows();
table.close();

async function during(next: Phase, act: () => Promise<unknown>): Promise<void> {
  phase = next;
  const started = performance.now();
  await act();
  lengths.set(next, performance.now() - started);
}

/** As a comparison: one processor has other work, at the priority of `migrate prepare`. */
async function keepBusy(time: number): Promise<void> {
  const child = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
  setPriority(child.pid!, constants.priority.PRIORITY_BELOW_NORMAL);
  await sleep(time);
  child.kill("SIGKILL");
}

function write(): void {
  const options = `from: ["text"], key: "id", with: ${JSON.stringify(code)}, version: "2", batch: 256`;
  const index = "m.ivfPq({ numPartitions: 32, numSubVectors: 8 })";
  const created = `{ id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(${oldLength}) }`;
  const indexed = [`"embedding", ${index}`, `"id", m.btree()`, `"text", m.fts()`];
  writeProject(folder, {
    steps: [
      `m.createTable("docs", ${created})`,
      indexed.map((one) => `m.createIndex("docs", ${one})`).join(", "),
      `m.reembedColumn("docs", "embedding", { type: m.vector(${newLength}), ${options}, index: ${index} })`,
    ],
  });
}

async function migrate(...args: readonly string[]): Promise<void> {
  const started = performance.now();
  await runMigrate(folder, args);
  console.log(`migrate ${args.join(" ")}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

async function addRows(): Promise<void> {
  for (let id = 0; id < rows; id++) texts.set(id, `document ${id}`);
  await table.add([...texts].map(([id, text]) => ({ id, text, embedding: vectorOf(text, oldLength) })));
}

async function run(signal: AbortSignal): Promise<void> {
  const names = Object.keys(kinds) as Kind[];
  for (let turn = 0; !signal.aborted; turn++) {
    const kind = names[Math.floor(Math.random() * names.length)]!;
    const begun = phase;
    const [started, cpu] = [performance.now(), process.cpuUsage()];
    await insist(() => kinds[kind](turn));
    const { user, system } = process.cpuUsage(cpu);
    operations.push({ phase: begun, kind, wait: performance.now() - started, cpu: (user + system) / 1_000 });
    if (performance.now() > optimized + 10_000) await optimize();
    const left = started + 1000 / Number(values.rate) - performance.now();
    if (left > 0) await sleep(left);
  }
}

/** So often that all phases find about as many files of one row: each one makes every operation longer. */
async function optimize(): Promise<void> {
  optimized = performance.now();
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

async function documentOf(id: number, turn: number) {
  const text = `document ${id}, written in turn ${turn}`;
  return { id, text, embedding: vectorOf(text, await currentLength()) };
}

function someId(): number {
  const id = Math.floor(Math.random() * rows);
  return deleted.has(id) ? someId() : id;
}

async function add(turn: number): Promise<void> {
  const document = await documentOf(rows + turn, turn);
  await table.add([document]);
  texts.set(document.id, document.text);
}

async function update(turn: number): Promise<void> {
  const { id, text, embedding } = await documentOf(someId(), turn);
  await table.update({ where: `id = ${id}`, values: { text, embedding } });
  texts.set(id, text);
}

async function merge(turn: number): Promise<void> {
  const [id, text] = [someId(), `document merged in turn ${turn}`];
  // As the documentation advises: rows lack the columns of the migration (docs/embedding-model.md).
  await save(table, "embedding", [{ id, text }], { key: "id", models });
  texts.set(id, text);
}

async function remove(): Promise<void> {
  const id = someId();
  await table.delete(`id = ${id}`);
  deleted.add(id);
  texts.delete(id);
}

async function vectorSearch(turn: number): Promise<void> {
  const vector = vectorOf(`document ${turn % rows}`, await currentLength());
  await table.vectorSearch(vector).column("embedding").select(["id"]).limit(5).toArray();
}

async function textSearch(turn: number): Promise<void> {
  await table
    .query()
    .fullTextSearch(String(turn % rows), { columns: "text" })
    .select(["id"])
    .limit(5)
    .toArray();
}

async function currentLength(): Promise<number> {
  const { fields } = await table.schema();
  return (fields.find(({ name }) => name === "embedding")!.type as { readonly listSize: number }).listSize;
}

function report(): void {
  console.log("\n| | | a second | median wait | × before | longest | processor time | × before |");
  console.log("|---|---|---|---|---|---|---|---|");
  for (const kind of Object.keys(kinds) as Kind[])
    for (const [one, length] of lengths) {
      const figures = (during: Phase) => {
        const own = operations.filter((each) => each.kind === kind && each.phase === during);
        const waits = own.map(({ wait }) => wait).toSorted((a, b) => a - b);
        const cpu = own.reduce((sum, each) => sum + each.cpu, 0) / own.length;
        return { number: own.length, median: waits[Math.floor(waits.length / 2)]!, longest: waits.at(-1)!, cpu };
      };
      const [now, before] = [figures(one), figures("before")];
      if (now.number === 0) continue;
      const rate = ((now.number * 1000) / length).toFixed(1);
      const times = (value: number, other: number) => (value / other).toFixed(2);
      console.log(
        `| ${kind} | ${one} | ${rate} | ${now.median.toFixed(1)} ms | ${times(now.median, before.median)} | ${now.longest.toFixed(0)} ms | ${now.cpu.toFixed(1)} ms | ${times(now.cpu, before.cpu)} |`,
      );
    }
  console.log(errors.size === 0 ? "\nno errors" : "\nerrors, after which the application tried again:");
  for (const [text, count] of errors) console.log(`  ${count} × ${text}`);
}

/** The rows that each index does not cover. */
async function coverage(): Promise<string> {
  const found = await Promise.all(
    (await table.listIndices()).map(async ({ name, columns }) => {
      const stats = await table.indexStats(name);
      return `${columns.join()}: ${stats?.numUnindexedRows ?? "?"} of ${(stats?.numIndexedRows ?? 0) + (stats?.numUnindexedRows ?? 0)}`;
    }),
  );
  return found.join(", ");
}

/** Of what is there: migrations drop tables meanwhile, and the engine removes files. */
function bytesIn(path: string): number {
  try {
    if (!statSync(path).isDirectory()) return statSync(path).size;
    return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
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
