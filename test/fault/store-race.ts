/**
 * First runs that start at one instant on an empty object store, again and again: does each migration run once, and does
 * every run end with 0? Ends with 1 when one race did not. Without --uri on a server of its own, which it installs:
 *
 *   npm run check store-race
 *   npm run check store-race -- --store azure
 *   npm run check store-race -- --uri s3://bucket/prefix --option region=us-east-1 --option endpoint=http://127.0.0.1:5000 …
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startStore, type StoreKind } from "../support/stores/store.ts";

const { values } = parseArgs({
  options: {
    uri: { type: "string" },
    store: { type: "string", default: "s3" },
    option: { type: "string", multiple: true, default: [] },
    rounds: { type: "string", default: "15" },
    runners: { type: "string", default: "8" },
  },
});
const given = Object.fromEntries(values.option.map((pair) => pair.split(/=(.*)/s, 2)));
const started = values.uri === undefined ? await startStore(values.store as StoreKind) : undefined;
if (typeof started === "string") throw new Error(started);
const store = { uri: values.uri ?? started!.place(), storageOptions: started?.storageOptions ?? given };

const root = fileURLToPath(new URL("../..", import.meta.url));
const migrations = readdirSync(join(root, "migrations")).filter((name) => name.endsWith(".ts")).length;
const folder = mkdtempSync(join(tmpdir(), "lance-migrate-race-"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
cpSync(join(root, "migrations"), join(folder, "migrations"), { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');

const rounds = Number(values.rounds);
let well = 0;
try {
  for (let round = 0; round < rounds; round++) if (await race(round)) well++;
} finally {
  rmSync(folder, { recursive: true });
  await started?.stop();
}
console.log(`${well} of ${rounds} races of ${values.runners} first runs ended well`);
process.exitCode = well === rounds ? 0 : 1;

async function race(round: number): Promise<boolean> {
  const uri = `${store.uri.replace(/\/+$/, "")}/race-${process.pid}-${round}`;
  const { storageOptions } = store;
  const config = { targets: { store: { kind: "lance", uri, storageOptions } } };
  writeFileSync(join(folder, "migrate.config.mjs"), `export default ${JSON.stringify(config)};\n`);
  const runs = await Promise.all(Array.from({ length: Number(values.runners) }, run));
  const applied = runs.flatMap(({ versions }) => versions);
  const isOnce = applied.length === migrations && new Set(applied).size === migrations;
  if (isOnce && runs.every(({ code }) => code === 0)) return true;
  const codes = runs.map(({ code }) => code).join(" ");
  console.log(`round ${round}: codes ${codes}, applied ${applied.toSorted().join(" ")}`);
  for (const { stderr } of runs.filter(({ code }) => code !== 0)) console.log(`  ${stderr.trimEnd()}`);
  return false;
}

interface Ended {
  readonly code: number | null;
  readonly versions: readonly number[];
  readonly stderr: string;
}

function run(): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, "dist", "bin.js"), "up", "--json"], { cwd: folder });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      const events = lines.map((line) => JSON.parse(line) as { event: string; version: number });
      const versions = events.filter(({ event }) => event === "applied").map(({ version }) => version);
      resolve({ code, versions, stderr });
    });
  });
}
