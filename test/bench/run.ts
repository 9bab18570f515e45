/**
 * What a run with nothing pending costs, and whether the ledger slows down as it grows. Whole processes, interleaved,
 * so that a machine that is busy for a while is busy for all of them: read the ratios. `npm run bench run [-- --rounds N]`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/time/clock.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import { takeLease, type Lease } from "../../src/ledger/lease/lease.ts";
import type { LedgerEntry } from "../../src/ledger/state/record.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { checksumOf, stepHash } from "../../src/migrations/checksum.ts";
import { listMigrations, type MigrationFile } from "../../src/migrations/list-files.ts";
import { thisRunner } from "../../src/run/run-context.ts";
import { open } from "../../src/targets/lance/lance.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });
const rounds = Number(values.rounds);
const sizes = [10, 1_000, 10_000] as const;
const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "dist/bin.js");
const work = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));

try {
  const projects = new Map<number, string>();
  for (const size of sizes) projects.set(size, await prepare(size));
  wholeProcesses(projects);
  await ledgerAlone(projects);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** A project with so many migrations and a ledger, written by our own writer, in which all of them are applied. */
async function prepare(size: number): Promise<string> {
  const folder = join(work, String(size));
  mkdirSync(join(folder, "migrations"), { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  writeFileSync(join(folder, "migrate.config.ts"), readFileSync(join(root, "migrate.config.ts")));
  for (let version = 1; version <= size; version++) {
    const name = `${String(version).padStart(4, "0")}_create_table_${version}.ts`;
    const text = `import { createTable, int64, utf8 } from "lance-migrate";\n\nexport const up = [createTable("t${version}", { id: int64().notNull(), name: utf8() })];\n`;
    writeFileSync(join(folder, "migrations", name), text);
  }
  const entries = listMigrations(join(folder, "migrations")).map(appliedEntry);
  await withLease(folder, async (lease) => {
    for (let at = 0; at < entries.length; at += 1_000) await lease.record(entries.slice(at, at + 1_000));
  });
  return folder;
}

function appliedEntry({ version, name, textHash }: MigrationFile): LedgerEntry {
  const steps = [{ kind: "createTable", table: `t${version}` }];
  const hashes = { checksum: checksumOf(steps), steps: steps.map(stepHash), textHash };
  const tables = { [`t${version}`]: [null, 1] } as const;
  return { event: "applied", version, name, step: 1, total: 1, attempt: 1, duration: 4, tables, ...hashes };
}

async function withLease(folder: string, work: (lease: Lease) => Promise<void>): Promise<void> {
  const target = await open({ kind: "lance", uri: ".lancedb" }, { name: "bench", folder });
  const journal = journalOf(target, "_migrations");
  const state = foldLedger(await journal.read());
  const lease = await takeLease(journal, state, thisRunner(), undefined, { duration: 60_000, clock: systemClock });
  if (lease === undefined) throw new Error("somebody else took the lease");
  await work(lease);
  await lease.release();
  await target.close();
}

function wholeProcesses(projects: ReadonlyMap<number, string>): void {
  const minimal = join(work, "minimal.mjs");
  const lancedb = join(root, "node_modules/@lancedb/lancedb/dist/index.js");
  writeFileSync(
    minimal,
    `import { connect } from ${JSON.stringify(lancedb)};
const db = await connect(process.argv[2], { readConsistencyInterval: 0 });
const rows = await (await db.openTable("_migrations")).query().toArray();
if (rows.length === 0) throw new Error("the ledger is empty");\n`,
  );
  const cases = [
    { name: "node -e 0", folder: work, args: ["-e", "0"] },
    { name: "migrate --help", folder: work, args: [bin, "--help"] },
    ...sizes.flatMap((size) => {
      const folder = projects.get(size)!;
      return [
        { name: `minimal script, ${size} applied`, folder, args: [minimal, join(folder, ".lancedb")] },
        { name: `migrate up, ${size} applied`, folder, args: [bin, "up"] },
      ];
    }),
    {
      name: "the same, 1000, no compiled code",
      folder: projects.get(1_000)!,
      args: [bin, "up"],
      env: { NODE_DISABLE_COMPILE_CACHE: "1" },
    },
  ].map((one) => ({ ...one, wall: [] as number[], memory: [] as number[] }));

  for (let round = -1; round < rounds; round++) {
    for (const one of cases) {
      const { wall, memory } = runOnce(one);
      if (round < 0) continue; // a first round warms the page cache
      one.wall.push(wall);
      one.memory.push(memory);
    }
  }
  const base = median(cases[0]!.wall);
  console.log(`whole processes, ${rounds} interleaved rounds, Node ${process.versions.node}`);
  console.log(row("", "median ms", "min ms", "x node -e 0", "peak MiB"));
  for (const { name, wall, memory } of cases)
    console.log(
      row(
        name,
        median(wall).toFixed(0),
        Math.min(...wall).toFixed(0),
        (median(wall) / base).toFixed(2),
        median(memory).toFixed(0),
      ),
    );
  const of = (name: string) => median(cases.find((one) => one.name === name)!.wall);
  for (const size of sizes)
    console.log(
      `migrate up / minimal script at ${size}: ${(of(`migrate up, ${size} applied`) / of(`minimal script, ${size} applied`)).toFixed(2)}`,
    );
}

interface Case {
  readonly args: readonly string[];
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

function runOnce({ args, folder, env = {} }: Case): { readonly wall: number; readonly memory: number } {
  const report = join(work, "memory");
  const options = { cwd: folder, env: { ...process.env, ...env } };
  // The process itself says how much it used; its parent can't ask on every system.
  const preload = `data:text/javascript,import{writeFileSync}from"node:fs";process.on("exit",()=>writeFileSync(${JSON.stringify(report)},String(process.resourceUsage().maxRSS)))`;
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const wall = performance.now() - started;
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${String(stderr)}`);
  spawnSync(process.execPath, ["--import", preload, ...args], { ...options, stdio: "ignore" });
  return { wall, memory: Number(readFileSync(report, "utf8")) / 1024 };
}

/** The two claims about growth: reading the newest record, and adding one with its share of the tending. */
async function ledgerAlone(projects: ReadonlyMap<number, string>): Promise<void> {
  const reads = new Map<number, number[]>(sizes.map((size) => [size, []]));
  const appends = new Map<number, number[]>(sizes.map((size) => [size, []]));
  for (let round = -1; round < rounds; round++) {
    for (const size of sizes) {
      const started = performance.now();
      const target = await open({ kind: "lance", uri: ".lancedb" }, { name: "bench", folder: projects.get(size)! });
      await journalOf(target, "_migrations").head();
      if (round >= 0) reads.get(size)!.push(performance.now() - started);
      await target.close();
    }
  }
  // Enough appends that each round pays for the tending that they cause.
  const appendsARound = 64;
  for (let round = 0; round < Math.max(3, Math.ceil(rounds / 3)); round++) {
    for (const size of sizes) {
      await withLease(projects.get(size)!, async (lease) => {
        const entry = { event: "renewed" } as const;
        const started = performance.now();
        for (let at = 0; at < appendsARound; at++) await lease.record([entry]);
        appends.get(size)!.push((performance.now() - started) / appendsARound);
      });
    }
  }
  console.log("\nthe ledger alone, in one process, interleaved");
  console.log(row("", "open and newest record, ms", "append, ms"));
  for (const size of sizes)
    console.log(row(`${size} applied`, median(reads.get(size)!).toFixed(2), median(appends.get(size)!).toFixed(2)));
  const ratio = (times: ReadonlyMap<number, number[]>) =>
    (median(times.get(10_000)!) / median(times.get(10)!)).toFixed(2);
  console.log(`10,000 against 10: reading ${ratio(reads)} x (at most 3), appending ${ratio(appends)} x (at most 1.5)`);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function row(name: string, ...cells: readonly string[]): string {
  return name.padEnd(34) + cells.map((cell) => cell.padStart(14)).join("");
}
