/**
 * `npm run nightly` runs everything that takes too long for each commit: random tests with new seeds and many rounds, kills at
 * every call, all planted bugs, and servers that others wrote. `npm run nightly -- simulate stores` runs just these parts;
 * `-- --list` prints the names of all. Ends with 1 when a part failed, after all of them have run.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { groups } from "./files.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const node = (script: string, ...args: readonly string[]) => [process.execPath, script, ...args];
const vitest = (...args: readonly string[]) => node("node_modules/vitest/vitest.mjs", "run", ...args);
const testsIn = (folders: readonly string[]) => vitest(...folders.map((folder) => `test/${folder}/`));

/** By name, the command. The tests come first: they are all that most changes break. */
const parts: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(groups).map(([name, folders]) => [name, testsIn(folders)])),
  // The suite of each commit, elsewhere.
  environment: ["env", "--unset=MIGRATE_LONG", ...node("test/environments/run.ts", "tonight")],
  pylance: vitest("--config", "test/pylance/vitest.config.ts"),
  flaky: node(".ci/flaky.ts", "50"),
  stores: node("test/fault/store-race.ts"),
  simulate: node("test/simulate/run.ts", "--schedules", "200000"),
  "crash-matrix": node("test/fault/crash-matrix.ts"),
  histories: node("test/histories/run.ts", "--fresh"),
  "histories-namespace": node("test/histories/run.ts", "--fresh", "--target", "namespace", "--histories", "300"),
  sequences: node("test/sequences/run.ts"),
  fuzz: node("test/fuzz/run.ts"),
  mutants: node("test/mutants/run.ts"),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => name !== "--list" && !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`there is no part ${unknown.join(", ")}; there are ${Object.keys(parts).join(", ")}`);
  process.exitCode = 2;
} else if (wanted.includes("--list")) console.log(Object.keys(parts).join("\n"));
else await runAll(wanted.length > 0 ? wanted : Object.keys(parts));

async function runAll(names: readonly string[]): Promise<void> {
  const lines: string[] = [];
  for (const name of names) {
    console.log(`\n== ${name}`);
    const started = performance.now();
    const code = await run(parts[name]!);
    if (code !== 0) process.exitCode = 1;
    const minutes = (performance.now() - started) / 60_000;
    lines.push(`${code === 0 ? "passed" : "FAILED"}  ${name}, ${minutes.toFixed(1)} minutes`);
  }
  console.log(`\n${lines.join("\n")}`);
}

function run([program, ...args]: readonly string[]): Promise<number | null> {
  const child = spawn(program!, args, { cwd: root, stdio: "inherit", env: { ...process.env, MIGRATE_LONG: "1" } });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}
