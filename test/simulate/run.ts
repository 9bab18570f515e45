/**
 * `npm run simulate -- --schedules N` runs N schedules of random migrations, on every core, and ends with 1 when something
 * did not hold. `--seed S` shows one schedule happen.
 */
import { fork, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { z } from "zod";
import { parseFlags, wholeFlag } from "../../src/cli/command.ts";
import { count, firstLine } from "../../src/errors.ts";
import type { Chance } from "../../src/simulator/chance.ts";
import { runSchedule } from "../../src/simulator/schedule.ts";
import { added, countsText, simulate, type SimulationResult } from "../../src/simulator/simulate.ts";
import { drawScenario } from "./history.ts";

const described = {
  schedules: "how many ways to fail (10000)",
  first: "the number of the first (1)",
  seed: "show one schedule happen, from its number",
  jobs: "processes that share them (as many as there are cores)",
  violations: "end after so many (10)",
};
const flags = z.object({
  schedules: wholeFlag("schedules", 1).default(10_000),
  first: wholeFlag("first", 0).default(1),
  seed: wholeFlag("seed", 0).optional(),
  jobs: wholeFlag("jobs", 1).default(availableParallelism()),
  violations: wholeFlag("violations", 1).default(10),
} satisfies Record<keyof typeof described, z.ZodType>);
const last = 999_999_999;
const withinSeeds = flags.refine(
  ({ first, schedules }) => first + schedules - 1 <= last,
  `--first and --schedules lead beyond ${last}, the last number that --seed takes`,
);
const { schedules, first, seed, jobs, violations: mostViolations } = typed();

if (seed !== undefined) await show(seed);
else if (process.send !== undefined) await work(process.send.bind(process));
else await share();

function typed() {
  const options = Object.entries(described).map(([flag, describe]) => [flag, { type: "string", describe }] as const);
  const refuse = (problem: string) => {
    console.error(problem);
    return process.exit(2);
  };
  const words = yargs(hideBin(process.argv))
    .scriptName("npm run simulate --")
    .options(Object.fromEntries(options))
    .version(false)
    .strict()
    .parserConfiguration({ "parse-numbers": false, "duplicate-arguments-array": true })
    .fail((problem) => refuse(`${problem}; see npm run simulate -- --help`))
    .parseSync();
  try {
    return parseFlags(withinSeeds, words);
  } catch (error) {
    return refuse(firstLine(error));
  }
}

async function show(seed: number): Promise<void> {
  const chosen = (chance: Chance) => {
    const drawn = drawScenario(chance);
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
  const result = await simulate({ scenario: drawScenario, first, schedules, mostViolations, signal, progress });
  send({ result });
  process.disconnect();
}

async function share(): Promise<void> {
  const started = performance.now();
  const size = Math.ceil(schedules / jobs);
  const done = Array.from({ length: Math.ceil(schedules / size) }, () => 0);
  const said = setInterval(() => {
    const sum = done.reduce((one, other) => one + other);
    console.error(`${sum.toLocaleString("en")} of ${schedules.toLocaleString("en")} schedules`);
  }, 30_000);
  const children: ChildProcess[] = [];
  const parts = done.map(async (_, job) => {
    const begin = job * size;
    const args = {
      first: first + begin,
      schedules: Math.min(size, schedules - begin),
      violations: mostViolations,
    };
    const child = fork(
      fileURLToPath(import.meta.url),
      Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)]),
      // Each error looks there for secrets, and schedules make many.
      { env: {} },
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
    `${result.schedules.toLocaleString("en")} schedules, ${count(result.violations.length, "violation")}, ${seconds.toFixed(0)} s on ${count(done.length, "core")}`,
  );
  process.exitCode = result.violations.length === 0 ? 0 : 1;
}
