/**
 * Kills a run of every step kind at every call on every target and prints what became of the next one; ends with 1 when
 * one did not converge. `npm run check crash-matrix [-- --every N --kind renameColumn]`; npm test does a part of it.
 */
import { parseArgs } from "node:util";
import { crashMatrix, matrixTargets } from "./matrix.ts";
import { matrixTable } from "./matrix-table.ts";

const { values } = parseArgs({ options: { every: { type: "string", default: "1" }, kind: { type: "string" } } });
const started = performance.now();
const verdicts = await crashMatrix({ every: Number(values.every), places: "all", cases: "all", kind: values.kind });
console.log(matrixTable(verdicts));
for (const target of matrixTargets) {
  const seen = new Set(verdicts.flatMap((one) => (one.target === target ? [...one.seen] : [])));
  console.log(`\n${target}: ${[...seen].toSorted().join(", ")}`);
}
console.log(`\n${Math.round((performance.now() - started) / 1000)} s, Node ${process.versions.node}`);
const problems = verdicts.flatMap(({ problems }) => problems);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
