/**
 * `npm run simulate -- --schedules N` runs N schedules of random migrations, on every core, and ends with 1 when something
 * did not hold. `--seed S` shows one schedule happen.
 */
import { fork, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { models } from "../../src/targets/memory/memory.ts";
import type { Chance } from "../../src/simulator/chance.ts";
import { runSchedule } from "../../src/simulator/schedule.ts";
import { added, countsText, simulate, type SimulationResult } from "../../src/simulator/simulate.ts";
import { drawHistory } from "./history.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "10000" },
    first: { type: "string", default: "1" },
    seed: { type: "string" },
    jobs: { type: "string", default: String(availableParallelism()) },
    violations: { type: "string", default: "10" },
  },
});
const [schedules, first, jobs, mostViolations] = [values.schedules, values.first, values.jobs, values.violations].map(
  Number,
) as [number, number, number, number];

const scenario = (chance: Chance) => ({ model: chance.pick(models), migrations: drawHistory(chance) });

if (values.seed !== undefined) await show(Number(values.seed));
else if (process.send !== undefined) await work(process.send.bind(process));
else await share();

async function show(seed: number): Promise<void> {
  const chosen = (chance: Chance) => {
    const drawn = scenario(chance);
    console.log(`as ${drawn.model}:`);
    for (const { file, steps } of drawn.migrations) console.log(file, JSON.stringify(steps));
    return drawn;
  };
  const problem = await runSchedule(seed, chosen, { tell: (what) => console.log(what()), count: () => {} });
  console.log(problem ?? "all well");
  process.exitCode = problem === undefined ? 0 : 1;
}

/** The part of one process. */
async function work(send: (message: { done: number } | { result: SimulationResult }) => void): Promise<void> {
  const controller = new AbortController();
  process.on("message", () => controller.abort());
  const { signal } = controller;
  const progress = (done: number) => send({ done });
  const result = await simulate({ scenario, first, schedules, mostViolations, signal, progress });
  send({ result });
  process.disconnect();
}

async function share(): Promise<void> {
  const started = performance.now();
  const done = Array.from({ length: jobs }, () => 0);
  const said = setInterval(() => {
    const sum = done.reduce((one, other) => one + other);
    console.error(`${sum.toLocaleString("en")} of ${schedules.toLocaleString("en")} schedules`);
  }, 30_000);
  const size = Math.ceil(schedules / jobs);
  const children: ChildProcess[] = [];
  const parts = done.map(async (_, job) => {
    const begin = job * size;
    const args = {
      first: first + begin,
      schedules: Math.max(0, Math.min(size, schedules - begin)),
      violations: mostViolations,
    };
    const child = fork(
      fileURLToPath(import.meta.url),
      Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)]),
    );
    children.push(child);
    return await new Promise<SimulationResult>((resolve, reject) => {
      child.on("message", (message: { done: number } | { result: SimulationResult }) => {
        if ("done" in message) {
          done[job] = message.done;
          return;
        }
        resolve(message.result);
        if (message.result.violations.length < mostViolations) return;
        // One that has just ended does not hear of it.
        for (const other of children) if (other.connected) other.send("enough", () => {});
      });
      child.on("exit", (code) => reject(new Error(`a part ended with ${code}`)));
    });
  });
  const result = (await Promise.all(parts)).reduce(added);
  clearInterval(said);
  for (const { seed, problem } of result.violations)
    console.log(`seed ${seed}: ${problem}\n  see it happen: npm run simulate -- --seed ${seed}`);
  const seconds = (performance.now() - started) / 1_000;
  console.log(countsText(result));
  console.log(
    `${result.schedules.toLocaleString("en")} schedules, ${result.violations.length} violations, ${seconds.toFixed(0)} s on ${jobs} cores`,
  );
  process.exitCode = result.violations.length === 0 ? 0 : 1;
}
