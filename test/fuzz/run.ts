/**
 * `npm run check fuzz -- --requests N --seed S` sends N drawn requests to the built `migrate serve` and ends with 1 when it finds
 * something. `--first F --requests 1` sends draw F of a seed again, alone: a request, or a visit of several.
 */
import { parseArgs } from "node:util";
import { figures, fuzz } from "./fuzz.ts";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "200000" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 20)) },
    first: { type: "string", default: "0" },
    connections: { type: "string", default: "6" },
  },
});
console.log(`seed ${values.seed}`);
let [told, toldSlow] = [0, 0];
const report = await fuzz({
  seed: Number(values.seed),
  requests: Number(values.requests),
  first: Number(values.first),
  connections: Number(values.connections),
  tell: ({ requests, seconds, worstHealth, slow, problems }) => {
    for (const problem of problems.slice(told)) console.log(`  ${problem}`);
    for (const words of slow.slice(toldSlow)) console.log(`  /healthz took ${words}`);
    [told, toldSlow] = [problems.length, slow.length];
    console.log(`${requests} requests, ${Math.round(seconds)} s, worst /healthz ${Math.round(worstHealth)} ms`);
  },
});
for (const problem of report.problems.slice(told)) console.log(`  ${problem}`);
for (const line of figures(report)) console.log(line);
console.log(`${report.problems.length} problems`);
process.exitCode = report.problems.length === 0 ? 0 : 1;
