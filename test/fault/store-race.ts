/**
 * First runs that start at one instant on an empty object store, again and again: does each migration run once, and does
 * every run end with 0? Needs a store, so it is no part of npm test:
 *
 *   node test/fault/store-race.ts --uri s3://bucket/prefix --option region=us-east-1 --option endpoint=http://127.0.0.1:5000 …
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    uri: { type: "string" },
    option: { type: "string", multiple: true, default: [] },
    rounds: { type: "string", default: "15" },
    runners: { type: "string", default: "8" },
  },
});
if (values.uri === undefined) throw new Error("--uri is missing: s3://bucket/prefix");

const root = fileURLToPath(new URL("../..", import.meta.url));
const storageOptions = Object.fromEntries(values.option.map((pair) => pair.split(/=(.*)/s, 2)));
const migrations = readdirSync(join(root, "migrations")).filter((name) => name.endsWith(".ts")).length;
const folder = mkdtempSync(join(tmpdir(), "lance-migrate-race-"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
cpSync(join(root, "migrations"), join(folder, "migrations"), { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');

let well = 0;
for (let round = 0; round < Number(values.rounds); round++) {
  const uri = `${values.uri.replace(/\/+$/, "")}/race-${process.pid}-${round}`;
  const config = { leaseSeconds: 5, targets: { store: { kind: "lance", uri, storageOptions } } };
  writeFileSync(join(folder, "migrate.config.mjs"), `export default ${JSON.stringify(config)};\n`);
  const runs = await Promise.all(Array.from({ length: Number(values.runners) }, run));
  const applied = runs.flatMap(({ versions }) => versions);
  if (runs.every(({ code }) => code === 0) && applied.length === migrations && new Set(applied).size === migrations)
    well++;
  else
    console.log(
      `round ${round}: codes ${runs.map(({ code }) => code).join(" ")}, applied ${applied.toSorted().join(" ")}`,
    );
}
rmSync(folder, { recursive: true });
console.log(`${well} of ${values.rounds} races of ${values.runners} first runs ended well`);

function run(): Promise<{ readonly code: number | null; readonly versions: readonly number[] }> {
  const child = spawn(process.execPath, [join(root, "dist", "bin.js"), "up", "--json"], { cwd: folder });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.resume();
  return new Promise((resolve) => {
    child.on("close", (code) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      const events = lines.map((line) => JSON.parse(line) as { event: string; version: number });
      resolve({ code, versions: events.filter(({ event }) => event === "applied").map(({ version }) => version) });
    });
  });
}
