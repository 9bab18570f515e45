/**
 * What `migrate up` with nothing pending costs on a service: whole processes, interleaved, against `migrate serve` on this
 * machine. Read the ratios. `npm run bench rest [-- --rounds N]`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { listMigrations } from "../../src/migrations/list-files.ts";
import { median, timeOf } from "./measure.ts";
import { bin, optionsOf, startService, temporaryFolder, withLease, writeProject } from "./project.ts";

const rounds = Number(optionsOf({ rounds: "15" }).rounds);
const work = temporaryFolder();

const cases = [{ name: "node -e 0", folder: work, args: ["-e", "0"], wall: [] as number[] }];
for (const dialect of ["service", "namespace"] as const)
  for (const size of [10, 1_000, 10_000]) {
    const folder = await prepare(dialect, size);
    cases.push({ name: `migrate up, ${dialect}, ${size} applied`, folder, args: [bin, "up"], wall: [] });
  }
for (let round = -1; round < rounds; round++)
  for (const { args, folder, wall } of cases) {
    const took = timeOf(args, folder);
    if (round >= 0) wall.push(took); // a first round warms the page cache
  }
const base = median(cases[0]!.wall);
console.log(`whole processes, ${rounds} interleaved rounds, Node ${process.versions.node}`);
for (const { name, wall } of cases)
  console.log(
    `${name.padEnd(40)}${median(wall).toFixed(0).padStart(6)} ms${(median(wall) - base).toFixed(0).padStart(8)} ms more than Node alone`,
  );

/** A project with so many migrations, and a service of its own in whose ledger all of them are applied. */
async function prepare(dialect: "service" | "namespace", size: number): Promise<string> {
  const folder = join(work, `${dialect}-${size}`);
  const target = await startService(dialect, join(folder, "data"));
  writeProject(folder, { target });
  for (let version = 1; version <= size; version++)
    writeFileSync(
      join(folder, "migrations", `${String(version).padStart(4, "0")}_m.js`),
      `// ${version}\nexport const up = [];\n`,
    );
  const facts = { step: 1, total: 1, checksum: "c".repeat(64), steps: [], attempt: 1, duration: 1, tables: {} };
  const entries = listMigrations(join(folder, "migrations")).map(
    ({ version, name, textHash }) => ({ event: "applied", version, name, textHash, ...facts }) as const,
  );
  await withLease(folder, async (lease) => void (await lease.record(entries)), target);
  return folder;
}
