/**
 * The time that `migratedDatabase` takes for a database of 100 migrations: the first call, the next ones, and the first
 * one of a second process. `npm run build && npm run bench testing [-- --migrations N --rounds N]`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { migrations: { type: "string", default: "100" }, rounds: { type: "string", default: "10" } },
});
const root = fileURLToPath(new URL("../..", import.meta.url));
const tables = 20;

/** The nth migration: it creates one of the tables, adds a column, or renames one. */
function stepsOf(n: number): string {
  const table = `t${n % tables}`;
  if (n < tables) return `m.createTable("${table}", { id: m.int64(), title: m.utf8(), embedding: m.vector(8) })`;
  if (n % 5 === 4)
    return `m.renameColumn("${table}", "title", "title_${n}"), m.renameColumn("${table}", "title_${n}", "title")`;
  return `m.addColumn("${table}", "c${n}", m.utf8())`;
}

const folder = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));
try {
  for (const name of ["migrations", "node_modules", "tmp"]) mkdirSync(join(folder, name));
  symlinkSync(root, join(folder, "node_modules/lance-migrate"));
  symlinkSync(join(root, "node_modules/@lancedb"), join(folder, "node_modules/@lancedb"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }\n`);
  for (let n = 0; n < Number(values.migrations); n++) {
    const text = `import * as m from "lance-migrate";\nexport const up = [${stepsOf(n)}];\n`;
    writeFileSync(join(folder, "migrations", `${String(n + 1).padStart(4, "0")}_m.mjs`), text);
  }
  writeFileSync(
    join(folder, "calls.mjs"),
    `import { migratedDatabase } from "lance-migrate/testing";
    for (let round = 0; round <= ${values.rounds}; round++) {
      const start = performance.now();
      const database = await migratedDatabase();
      console.log(Math.round(performance.now() - start));
      await database.drop();
    }`,
  );
  for (const name of ["first process", "second process"]) {
    const env = { ...process.env, TMPDIR: join(folder, "tmp") };
    const printed = execFileSync(process.execPath, ["calls.mjs"], { cwd: folder, env, encoding: "utf8" });
    const [first = 0, ...next] = printed.trim().split("\n").map(Number);
    const sorted = next.toSorted((one, other) => one - other);
    const median = sorted[Math.floor(sorted.length / 2)];
    console.log(`${name}: first ${first} ms, next ${median} ms (median; best ${sorted[0]} ms)`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
