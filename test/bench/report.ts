/**
 * What `migrate report` costs: a project of many migrations, all but a few of them applied in a folder. Prints the seconds of
 * whole processes, the best of some rounds, and the size of the page.
 * `npm run bench report [-- --migrations N --tables N --rounds N]`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bin, writeProject } from "./history-scene.ts";

const { values } = parseArgs({
  options: {
    migrations: { type: "string", default: "1000" },
    tables: { type: "string", default: "200" },
    rounds: { type: "string", default: "5" },
  },
});
const [migrations, tables, rounds] = [values.migrations, values.tables, values.rounds].map(Number) as [
  number,
  number,
  number,
];
const folder = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));
const page = join(folder, "report.html");

function migrate(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`migrate ${args.join(" ")}: ${stderr}`);
}

try {
  writeProject(folder, migrations, tables);
  const target = `{ kind: "lance", uri: ".lancedb" }`;
  writeFileSync(join(folder, "migrate.config.ts"), `export default { targets: { local: ${target} } };\n`);
  migrate("up", "--quiet", "--to", String(migrations - Math.min(20, migrations)));
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const from = performance.now();
    migrate("report", "--out", page);
    seconds.push((performance.now() - from) / 1_000);
  }
  const kilobytes = Math.round(statSync(page).size / 1_000);
  console.log(`${migrations} migrations, ${tables} tables: ${Math.min(...seconds).toFixed(1)} s, ${kilobytes} kB`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
