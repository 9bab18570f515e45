/**
 * `npm run nightly` runs everything that takes too long for each commit: random tests with new seeds and many rounds, kills at
 * every call, all planted bugs, and servers that others wrote. `npm run nightly -- simulate stores` runs just these parts;
 * `-- --list` prints the names of all. Ends with 1 when a part failed, after all of them have run.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parts } from "./parts.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

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
