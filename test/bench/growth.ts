/**
 * How commands grow with the history: 10 to 10,000 migrations of up to 100 tables, as whole processes. Sizes are
 * interleaved. "each" is the CPU time of one further migration, and "growth" its growth since the size before: at most
 * about 1 if the command grows linearly or better.
 * `npm run bench growth [-- --sizes 10,100,1000,10000 --tables 100 --rounds N --only WORDS]`; `--only lint` runs the
 * cases whose name contains it.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerEntry } from "../../src/ledger/state/record.ts";
import { stepHash } from "../../src/migrations/checksum.ts";
import { loadMigrations, migrationsIn } from "../../src/migrations/source.ts";
import { databaseAfter, lockOf, schemaRevisions } from "../../src/run/schema-history.ts";
import { schemaText } from "../../src/features/author/scaffold/print-schema.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { renameOf, writeHistory } from "./history-scene.ts";
import { measureSuccess, median, type Measured } from "./measure.ts";
import { bin, optionsOf, startService, temporaryFolder, withLease } from "./project.ts";

const values = optionsOf({ sizes: "10,100,1000,10000", tables: "100", rounds: "3", only: "" });
const sizes = values.sizes.split(",").map(Number);
const [tables, rounds] = [Number(values.tables), Number(values.rounds)];
const work = temporaryFolder();

type Scene = "empty" | "applied" | "service" | "namespace";

interface Case {
  readonly name: string;
  readonly scene: Scene;
  readonly args: readonly string[];
  /** What a run leaves, removed before the next. */
  readonly clean?: (folder: string) => void;
}

const remove = (folder: string, ...names: readonly string[]) => {
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true });
};

/** Removes the migration that `new` or `generate` has written. */
const removeWritten = (folder: string) => {
  for (const name of readdirSync(join(folder, "migrations")))
    if (name.endsWith("_one_more.ts")) remove(folder, `migrations/${name}`);
};

const cases: readonly Case[] = [
  { name: "plan, all pending", scene: "empty", args: ["plan"] },
  { name: "status, all pending", scene: "empty", args: ["status"] },
  { name: "up, all pending", scene: "empty", args: ["up", "--quiet"], clean: (folder) => remove(folder, ".lancedb") },
  ...(["applied", "service", "namespace"] as const).flatMap((scene) => {
    const where = scene === "applied" ? "" : `, dialect ${scene}`;
    return ["plan", "status", "up"].map((command) => ({
      name: `${command}, none pending${where}`,
      scene,
      args: [command],
    }));
  }),
  { name: "lint", scene: "applied", args: ["lint"] },
  {
    name: "types",
    scene: "applied",
    args: ["types", "--out", "src/db.ts"],
    clean: (folder) => remove(folder, "migrations/history.d.ts", "src"),
  },
  { name: "generate", scene: "applied", args: ["generate", "one_more"], clean: removeWritten },
  { name: "new", scene: "applied", args: ["new", "one_more", "--add-column", "t0.more:utf8"], clean: removeWritten },
];

const chosen = cases.filter(({ name }) => name.includes(values.only));
const folders = new Map<string, string>();
for (const scene of new Set(chosen.map((one) => one.scene)))
  for (const size of sizes) folders.set(`${scene} ${size}`, await prepare(scene, size));
console.log(`up to ${tables} tables, ${rounds} rounds with interleaved sizes, Node ${process.versions.node}`);
console.log(row("", "migrations", "median ms", "min ms", "CPU ms", "peak MB", "each, CPU", "growth"));
for (const { name, scene, args, clean } of chosen) {
  const runs = new Map<number, Measured[]>(sizes.map((size) => [size, []]));
  for (let round = 0; round < rounds; round++)
    for (const size of sizes) {
      const folder = folders.get(`${scene} ${size}`)!;
      clean?.(folder);
      runs.get(size)!.push(measureSuccess([bin, ...args], folder));
    }
  print(name, runs);
}
for (const size of sizes) printSize(folders.get(`applied ${size}`), size);

async function prepare(scene: Scene, migrations: number): Promise<string> {
  const folder = join(work, `${scene}-${migrations}`);
  if (scene === "service" || scene === "namespace") {
    const target = await startService(scene, join(folder, "data"));
    writeHistory(folder, { migrations, tables, stepOf: renameOf }, target);
    await recordApplied(folder, target);
    return folder;
  }
  writeHistory(folder, { migrations, tables });
  if (scene === "empty") return folder;
  measureSuccess([bin, "up", "--quiet"], folder);
  await writeAuthoring(folder);
  return folder;
}

/** Records all migrations as applied on a service, which then has no tables: to create them would take minutes. */
async function recordApplied(folder: string, target: Awaited<ReturnType<typeof startService>>): Promise<void> {
  const source = migrationsIn(join(folder, "migrations"));
  const facts = { event: "applied", step: 1, total: 1, attempt: 1, duration: 4, tables: {} } as const;
  const entries: LedgerEntry[] = [];
  for (const { version, name, textHash, steps, checksum } of await loadMigrations(source, source.list()))
    entries.push({ ...facts, version, name, textHash, checksum, steps: steps.map(stepHash) });
  await withLease(folder, async (lease) => void (await lease.record(entries)), target);
}

/** The files beside the migrations: the lock file, the history's types, and a declared schema with one more column. */
async function writeAuthoring(folder: string): Promise<void> {
  const target = await open({ kind: "lance", uri: ".lancedb" }, { name: "bench", folder });
  const options = { target, migrations: migrationsIn(join(folder, "migrations")) };
  const revisions = await schemaRevisions(options);
  await target.close();
  writeFileSync(join(folder, "migrations/lock.json"), lockOf(revisions));
  const database = new Map(databaseAfter(revisions));
  const first = database.get("t0")!;
  const more = { name: "more", type: { kind: "utf8" }, nullable: true } as const;
  database.set("t0", { ...first, columns: [...first.columns, more] });
  writeFileSync(join(folder, "schema.ts"), schemaText(database));
  measureSuccess([bin, "types"], folder);
}

function print(name: string, runs: ReadonlyMap<number, readonly Measured[]>): void {
  let before: { readonly size: number; readonly cpu: number; readonly each?: number } | undefined;
  for (const [size, all] of runs) {
    const of = (key: "wall" | "cpu" | "peak") => all.map((one) => one[key]);
    const cpu = Math.min(...of("cpu"));
    const each = before && (cpu - before.cpu) / (size - before.size);
    const growth = each && before?.each && each / before.each;
    const figures = [median(of("wall")), Math.min(...of("wall")), cpu, Math.max(...of("peak"))].map((one) =>
      one.toFixed(0),
    );
    console.log(
      row(
        before ? "" : name,
        String(size),
        ...figures,
        each ? `${each.toFixed(2)} ms` : "",
        growth ? growth.toFixed(2) : "",
      ),
    );
    before = { size, cpu, ...(each !== undefined && { each }) };
  }
}

function printSize(folder: string | undefined, size: number): void {
  if (folder === undefined) return;
  const path = join(folder, "migrations/history.d.ts");
  const bytes = statSync(path).size;
  const lines = readFileSync(path, "utf8").split("\n").length;
  console.log(`history.d.ts of ${size} migrations: ${bytes} bytes, ${(bytes / size).toFixed(0)} each, ${lines} lines`);
}

function row(name: string, ...cells: readonly string[]): string {
  return name.padEnd(40) + cells.map((cell) => cell.padStart(11)).join("");
}
