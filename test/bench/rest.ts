/**
 * What `migrate up` with nothing pending costs on a service: whole processes, interleaved, against `migrate serve` on this
 * machine. Read the ratios. `npm run bench rest [-- --rounds N]`.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/time/clock.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../src/ledger/lease/lease.ts";
import { listMigrations } from "../../src/migrations/list-files.ts";
import { thisRunner } from "../../src/run/run-context.ts";
import { open } from "../../src/targets/rest/rest.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });
const rounds = Number(values.rounds);
const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "dist/bin.js");
const work = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));
const apiKey = "a-key-for-bench";
const services: (() => void)[] = [];

try {
  const cases = [{ name: "node -e 0", folder: work, args: ["-e", "0"], wall: [] as number[] }];
  for (const dialect of ["service", "namespace"] as const)
    for (const size of [10, 1_000, 10_000]) {
      const folder = await prepare(dialect, size);
      cases.push({ name: `migrate up, ${dialect}, ${size} applied`, folder, args: [bin, "up"], wall: [] });
    }
  for (let round = -1; round < rounds; round++)
    for (const { args, folder, wall } of cases) {
      const started = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder });
      if (status !== 0) throw new Error(String(stderr));
      if (round >= 0) wall.push(performance.now() - started); // a first round warms the page cache
    }
  const base = median(cases[0]!.wall);
  console.log(`whole processes, ${rounds} interleaved rounds, Node ${process.versions.node}`);
  for (const { name, wall } of cases)
    console.log(
      `${name.padEnd(40)}${median(wall).toFixed(0).padStart(6)} ms${(median(wall) - base).toFixed(0).padStart(8)} ms more than Node alone`,
    );
} finally {
  for (const stop of services) stop();
  rmSync(work, { recursive: true, force: true });
}

/** A project with so many migrations, and a service of its own in whose ledger all of them are applied. */
async function prepare(dialect: "service" | "namespace", size: number): Promise<string> {
  const folder = join(work, `${dialect}-${size}`);
  mkdirSync(join(folder, "migrations"), { recursive: true });
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  for (let version = 1; version <= size; version++)
    writeFileSync(
      join(folder, "migrations", `${String(version).padStart(4, "0")}_m.js`),
      `// ${version}\nexport const up = [];\n`,
    );
  const endpoint = await serve(join(folder, "data"));
  const target = { kind: "rest", endpoint, apiKey, dialect } as const;
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  writeFileSync(
    join(folder, "migrate.config.js"),
    `export default { targets: { here: ${JSON.stringify(target)} } };\n`,
  );
  const opened = await open(target, { name: "bench", folder });
  const journal = journalOf(opened, "_migrations");
  const lease = await takeLease(journal, foldLedger([]), thisRunner(), undefined, {
    duration: 600_000,
    clock: systemClock,
  });
  const facts = { step: 1, total: 1, checksum: "c".repeat(64), steps: [], attempt: 1, duration: 1, tables: {} };
  const entries = listMigrations(join(folder, "migrations")).map(
    ({ version, name, textHash }) => ({ event: "applied", version, name, textHash, ...facts }) as const,
  );
  await lease!.release(entries);
  await opened.close();
  return folder;
}

async function serve(data: string): Promise<string> {
  const child = spawn(process.execPath, [bin, "serve", "--data", data, "--port", "0", "--json", "--quiet"], {
    env: { ...process.env, MIGRATE_API_KEY: apiKey },
    stdio: ["ignore", "pipe", "ignore"],
  });
  services.push(() => void child.kill());
  return await new Promise((found) => {
    child.stdout.once("data", (line: Buffer) => found((JSON.parse(line.toString("utf8")) as { url: string }).url));
  });
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
