/**
 * The time that `migratedDatabase` takes for a database of 100 migrations: the first call, the next ones, and the first
 * one of a second process. `npm run build && npm run bench testing [-- --migrations N --rounds N]`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { median } from "./measure.ts";
import { optionsOf, root, temporaryFolder, writeProject } from "./project.ts";

const values = optionsOf({ migrations: "100", rounds: "10" });
const tables = 20;

/** The nth migration: it creates one of the tables, adds a column, or renames one. */
function stepsOf(n: number): string {
  const table = `t${n % tables}`;
  if (n < tables) return `m.createTable("${table}", { id: m.int64(), title: m.utf8(), embedding: m.vector(8) })`;
  if (n % 5 === 4)
    return `m.renameColumn("${table}", "title", "title_${n}"), m.renameColumn("${table}", "title_${n}", "title")`;
  return `m.addColumn("${table}", "c${n}", m.utf8())`;
}

const folder = temporaryFolder();
const calls = `import { migratedDatabase } from "lance-migrate/testing";
for (let round = 0; round <= ${values.rounds}; round++) {
  const start = performance.now();
  const database = await migratedDatabase();
  console.log(Math.round(performance.now() - start));
  await database.drop();
}`;
const steps = Array.from({ length: Number(values.migrations) }, (_, n) => stepsOf(n));
writeProject(folder, { steps, files: { "calls.mjs": calls } });
symlinkSync(join(root, "node_modules/@lancedb"), join(folder, "node_modules/@lancedb"));
mkdirSync(join(folder, "tmp"));
for (const name of ["first process", "second process"]) {
  const env = { ...process.env, TMPDIR: join(folder, "tmp") };
  const printed = execFileSync(process.execPath, ["calls.mjs"], { cwd: folder, env, encoding: "utf8" });
  const [first = 0, ...next] = printed.trim().split("\n").map(Number);
  console.log(`${name}: first ${first} ms, next ${median(next)} ms (median; best ${Math.min(...next)} ms)`);
}
