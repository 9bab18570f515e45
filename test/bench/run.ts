/**
 * What a run with nothing pending costs, and whether the ledger slows down as it grows. Whole processes, interleaved,
 * so that a machine that is busy for a while is busy for all of them: read the ratios. `npm run bench run [-- --rounds N]`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerEntry } from "../../src/ledger/state/record.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { checksumOf, stepHash } from "../../src/migrations/checksum.ts";
import { listMigrations, type MigrationFile } from "../../src/migrations/list-files.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { measureSuccess, median, timeOf } from "./measure.ts";
import { bin, optionsOf, root, temporaryFolder, withLease, writeProject } from "./project.ts";

const rounds = Number(optionsOf({ rounds: "15" }).rounds);
const sizes = [10, 1_000, 10_000] as const;
const work = temporaryFolder();

const projects = new Map<number, string>();
for (const size of sizes) projects.set(size, await prepare(size));
wholeProcesses(projects);
await ledgerAlone(projects);

/** A project with so many migrations and a ledger, written by our own writer, in which all of them are applied. */
async function prepare(size: number): Promise<string> {
  const folder = join(work, String(size));
  const steps = Array.from(
    { length: size },
    (_, index) => `m.createTable("t${index + 1}", { id: m.int64().notNull(), name: m.utf8() })`,
  );
  writeProject(folder, { steps });
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
  ].map((one) => ({ env: {}, ...one, wall: [] as number[], memory: [] as number[] }));

  for (let round = -1; round < rounds; round++) {
    for (const one of cases) {
      const wall = timeOf(one.args, one.folder, one.env);
      // Another run: measuring the memory takes time.
      const { peak } = measureSuccess(one.args, one.folder, one.env);
      if (round < 0) continue; // a first round warms the page cache
      one.wall.push(wall);
      one.memory.push(peak);
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

function row(name: string, ...cells: readonly string[]): string {
  return name.padEnd(34) + cells.map((cell) => cell.padStart(14)).join("");
}
