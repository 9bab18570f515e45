/**
 * `npm run check crowd -- --seconds N --clients N --seed S` lets many clients write through `migrate serve` while its workers and
 * the service are killed. Ends with 1 if an acknowledged change is missing, or is there twice. `--bin FILE` takes the command of
 * another build.
 */
import { parseArgs } from "node:util";
import { figures, runCrowd } from "./crowd.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "600" },
    clients: { type: "string", default: "100" },
    python: { type: "string", default: "12" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 20)) },
    "kill-worker": { type: "string", default: "3" },
    "kill-service": { type: "string", default: "30" },
    bin: { type: "string" },
  },
});
console.log(`seed ${values.seed}`);
let told = 0;
const report = await runCrowd({
  seed: Number(values.seed),
  unit: "seconds",
  length: Number(values.seconds),
  clients: Number(values.clients),
  python: Number(values.python),
  killWorker: Number(values["kill-worker"]),
  killService: Number(values["kill-service"]),
  bin: values.bin,
  tell: (report) => {
    for (const { kind, words } of report.problems.slice(told)) console.log(`  ${kind}: ${words}`);
    told = report.problems.length;
    console.log(figures(report)[0]);
  },
});
for (const { kind, words } of report.problems.slice(told)) console.log(`  ${kind}: ${words}`);
for (const line of figures(report)) console.log(line);
process.exitCode = report.problems.length === 0 ? 0 : 1;
