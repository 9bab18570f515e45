/**
 * `npm run check queries -- --queries N --seed S` performs N drawn queries with LanceDB's clients for JavaScript and Python, embedded and
 * through the service, and ends with 1 when an answer of the service differs. `--first F --queries 1` performs query F of a seed again.
 */
import { parseArgs } from "node:util";
import { compareQueries } from "./queries.ts";

const { values } = parseArgs({
  options: {
    queries: { type: "string", default: "2000" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 20)) },
    first: { type: "string", default: "0" },
    "without-python": { type: "boolean", default: false },
  },
});
console.log(`seed ${values.seed}`);
const { counts, differences } = await compareQueries({
  seed: Number(values.seed),
  queries: Number(values.queries),
  first: Number(values.first),
  python: !values["without-python"],
  tell: (line) => console.log(`  ${line}`),
});
for (const [what, count] of [...counts].toSorted()) console.log(`${what}: ${count}`);
console.log(`${differences.length} differences`);
process.exitCode = differences.length === 0 ? 0 : 1;
