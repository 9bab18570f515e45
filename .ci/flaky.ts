/** `flaky.ts TIMES` runs each test in test/flaky.ts so often. Ends with 1 if one fails, or does not run. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runVitest } from "./run-vitest.ts";

const times = Number(process.argv[2]);
const { flaky } = (await import(pathToFileURL(resolve("test/flaky.ts")).href)) as { flaky: readonly string[] };
// As CI runs them.
delete process.env["MIGRATE_LONG"];

for (const id of flaky) {
  const [file, ...names] = id.split(" > ");
  const pattern = `^${names.join(" > ").replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")}`;
  let passed = 0;
  for (let time = 0; time < times; time++) {
    const seed = String(Math.floor(Math.random() * 1e9));
    process.env["MIGRATE_SEED"] = seed;
    const { ended, failed } = await runVitest([resolve(file!), "--testNamePattern", pattern], "ignore");
    if (ended.has(id) && failed.size === 0) passed++;
    for (const [what, { text }] of failed) console.log(`MIGRATE_SEED=${seed}: ${what}\n${text}`);
  }
  console.log(`passed ${passed} of ${times} times: ${id}`);
  if (passed < times) process.exitCode = 1;
}
if (flaky.length === 0) console.log("no test is known to be flaky");
