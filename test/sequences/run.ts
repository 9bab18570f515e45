/**
 * `npm run check sequences -- --sequences N` walks through N random sequences of steps, and ends with 1 when fold and engine
 * disagree. Others every time; `--seed S` walks through those of a seed.
 */
import { parseArgs } from "node:util";
import { checkSequences } from "./check.ts";

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "20000" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 30)) },
  },
});
try {
  const counts = await checkSequences(Number(values.sequences), Number(values.seed));
  for (const [what, count] of [...counts].toSorted()) console.log(`${what}: ${count}`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
