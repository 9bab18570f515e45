/**
 * npm run check engines [-- VERSION …]: whether this tool works with each published version of @lancedb/lancedb from 0.30 to the
 * newest. Prints which assumptions fail (src/engine/probes) and how the commands end. Fails if a version that package.json
 * allows can't be used, or if a command fails with one.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeModulesWith } from "./client.ts";
import { engineProject } from "./engine-project.ts";
import packageJson from "../../package.json" with { type: "json" };

/** What `init` writes as an example comes first. */
const migrations = {
  "0002_words.ts": `import { createTable, float64, insertRows, int64, utf8 } from "lance-migrate";
export const up = [
  createTable("words", { id: int64(), word: utf8(), rank: float64() }),
  insertRows("words", [{ id: 1, word: "a", rank: 0.5 }, { id: 2, word: "b", rank: null }], { key: "id" }),
];
`,
  "0003_changes.ts": `import { addColumn, btree, createIndex, dropColumn, execute, float32, int32, renameColumn, retypeColumn } from "lance-migrate";
export const accepts = ["lossy"];
export const up = [
  addColumn("words", "count", int32()),
  renameColumn("words", "word", "title"),
  execute("words", { update: { count: "cast(id as int)" } }),
  createIndex("words", "id", btree()),
  retypeColumn("words", "rank", float32()),
  dropColumn("words", "count"),
];
`,
};

/** In this order; each must end with 0. */
const commands = [
  "init --yes",
  "plan",
  "up",
  "status",
  "verify",
  "doctor",
  "down --to 2 --yes --accept lossy",
  "up",
  "down --to 0 --yes --accept lossy",
  "new more",
];

const oldest = [0, 30, 0];
const allowed = /^>=(\d+)\.(\d+)\.(\d+)$/.exec(packageJson.peerDependencies["@lancedb/lancedb"])!.slice(1).map(Number);
const isFrom = (version: string, from: readonly number[]) => {
  const parts = version.split(".").map(Number);
  const at = parts.findIndex((part, index) => part !== from[index]);
  return at < 0 || parts[at]! > from[at]!;
};

const given = process.argv.slice(2);
const published = JSON.parse(
  execFileSync("npm", ["view", "@lancedb/lancedb", "versions", "--json"], { encoding: "utf8" }),
) as readonly string[];
const versions = given.length > 0 ? given : published.filter((one) => /^[\d.]+$/.test(one) && isFrom(one, oldest));
for (const version of versions) {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-engines-"));
  try {
    tryVersion(version, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function tryVersion(version: string, folder: string): void {
  const modules = join(nodeModulesWith(`@lancedb/lancedb@${version}`, "apache-arrow@18.1.0"), "node_modules");
  const project = engineProject(folder, modules);
  const failed: string[] = [];
  for (const command of commands) {
    const { code, stderr } = project.migrate(...command.split(" "));
    if (code !== 0) failed.push(`${command} (${code}): ${stderr.trim().split("\n").at(-1)}`);
    // Only the first of them finds a folder without files.
    if (command.startsWith("init"))
      for (const [name, text] of Object.entries(migrations)) project.write(`migrations/${name}`, text);
  }
  const lacking = project
    .migrate("doctor")
    .stdout.split("\n")
    .filter((line) => /^no .*, with @lancedb/.test(line));
  const words = failed.length === 0 ? "all commands work" : `${failed.length} of ${commands.length} commands fail`;
  console.log(`${version}: ${words}`);
  for (const line of [...lacking, ...failed.slice(0, 1)]) console.log(`  ${line}`);
  if (failed.length > 0 && isFrom(version, allowed)) process.exitCode = 1;
}
