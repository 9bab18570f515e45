/**
 * `npm run simulate -- --schedules N` runs N schedules of random migrations, on every core, and ends with 1 when something
 * did not hold. `--seed S` shows one schedule happen.
 */
import { fork, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { parseFlags, textFlag, wholeFlag, withFlags } from "../../src/cli/command/flags.ts";
import { count, firstLine } from "../../src/errors/migrate-error.ts";
import type { Chance } from "./seeded-random.ts";
import { runSchedule } from "./schedule.ts";
import { added, countsText, simulate, type SimulationResult } from "./simulate.ts";
import { drawScenario } from "./history.ts";

const flags = {
  schedules: wholeFlag("how many ways to fail (10000)", 1),
  first: wholeFlag("the number of the first (1)", 0),
  seed: wholeFlag("show one schedule happen, from its number", 0),
  jobs: wholeFlag("processes that share them (as many as there are cores)", 1),
  violations: wholeFlag("end after so many (10)", 1),
  state: textFlag("a file of what is done: the same command again does the rest"),
};
const last = 999_999_999;
const {
  schedules = 10_000,
  first = 1,
  seed,
  jobs = availableParallelism(),
  violations: mostViolations = 10,
  state: stateFile,
} = typed();

/** Small enough that little is lost by an interruption. */
const largestPart = 500;

if (seed !== undefined) await show(seed);
else if (process.send !== undefined) await work(process.send.bind(process));
else await share();

function typed() {
  const refuse = (problem: string) => {
    console.error(problem);
    return process.exit(2);
  };
  const words = withFlags(yargs(hideBin(process.argv)), flags)
    .scriptName("npm run simulate --")
    .version(false)
    .strict()
    .parserConfiguration({ "parse-numbers": false, "duplicate-arguments-array": true })
    .fail((problem) => refuse(`${problem}; see npm run simulate -- --help`))
    .parseSync();
  try {
    const values = parseFlags(flags, words);
    if ((values.first ?? 1) + (values.schedules ?? 10_000) - 1 > last)
      return refuse(`--first and --schedules lead beyond ${last}, the last number that --seed takes`);
    return values;
  } catch (error) {
    return refuse(firstLine(error));
  }
}

async function show(seed: number): Promise<void> {
  const chosen = (chance: Chance, seed: number) => {
    const drawn = drawScenario(chance, seed);
    console.log(`as ${drawn.model}:`);
    for (const { file, steps } of drawn.migrations) console.log(file, JSON.stringify(steps));
    return drawn;
  };
  const problem = await runSchedule(seed, chosen, { tell: (what) => console.log(what()), count: () => {} });
  console.log(problem ?? "all well");
  process.exitCode = problem === undefined ? 0 : 1;
}

/** Consecutive schedules that one process runs at a time. */
interface Part {
  readonly first: number;
  readonly schedules: number;
}

/** What a file keeps, so that an interrupted command can be resumed. */
interface Progress extends Part {
  /** The first schedules of the parts that are done. */
  readonly done: readonly number[];
  readonly result: SimulationResult | undefined;
  readonly seconds: number;
}

/** What a process says: how far it is in its part, and then its result. */
type Said = { readonly done: number } | { readonly result: SimulationResult };

/** One process: runs the parts that it is sent until there are no more. */
async function work(send: (message: Said) => void): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const progress = (done: number) => send({ done });
  process.on("message", (part: Part | "enough") => {
    if (part === "enough") controller.abort();
    else
      void simulate({ scenario: drawScenario, ...part, mostViolations, signal, progress }).then((result) =>
        send({ result }),
      );
  });
}

function begin(): Progress {
  const fresh: Progress = { first, schedules, done: [], result: undefined, seconds: 0 };
  if (stateFile === undefined || !existsSync(stateFile)) return fresh;
  const kept = JSON.parse(readFileSync(stateFile, "utf8")) as Progress;
  if (kept.first === first && kept.schedules === schedules) return kept;
  console.error(`${stateFile} is of --first ${kept.first} --schedules ${kept.schedules}`);
  return process.exit(2);
}

/** Never half of it, whenever the process is killed. */
function keep(progress: Progress): void {
  if (stateFile === undefined) return;
  writeFileSync(`${stateFile}.new`, JSON.stringify(progress));
  renameSync(`${stateFile}.new`, stateFile);
}

async function share(): Promise<void> {
  const started = performance.now();
  let progress = begin();
  const before = progress.seconds;
  const size = Math.min(largestPart, Math.ceil(schedules / jobs));
  const isDone = new Set(progress.done);
  const parts: Part[] = [];
  for (let at = 0; at < schedules; at += size)
    if (!isDone.has(first + at)) parts.push({ first: first + at, schedules: Math.min(size, schedules - at) });
  const cores = Math.min(jobs, parts.length);
  if (stateFile !== undefined)
    console.error(
      `resume with: npm run simulate -- --first ${first} --schedules ${schedules} --state ${JSON.stringify(stateFile)}`,
    );
  const running = new Map<ChildProcess, number>();
  const said = setInterval(() => {
    const sum = [...running.values()].reduce((one, other) => one + other, progress.result?.schedules ?? 0);
    console.error(`${sum.toLocaleString("en")} of ${schedules.toLocaleString("en")} schedules`);
  }, 30_000);
  const isEnough = () => (progress.result?.violations.length ?? 0) >= mostViolations;
  const seconds = () => before + (performance.now() - started) / 1_000;
  await Promise.all(
    Array.from({ length: cores }, async () => {
      // Each error looks in the environment for secrets, and schedules make many.
      const child = fork(fileURLToPath(import.meta.url), ["--violations", String(mostViolations)], { env: {} });
      running.set(child, 0);
      try {
        for (let part = parts.shift(); part !== undefined && !isEnough(); part = parts.shift()) {
          const result = await resultOf(child, part, (done) => running.set(child, done));
          running.set(child, 0);
          const done = [...progress.done, part.first];
          const sum = progress.result === undefined ? result : added(progress.result, result);
          progress = { ...progress, done, result: sum, seconds: seconds() };
          keep(progress);
          if (isEnough()) for (const other of running.keys()) if (other.connected) other.send("enough", () => {});
        }
      } finally {
        running.delete(child);
        if (child.connected) child.disconnect();
      }
    }),
  );
  clearInterval(said);
  const result = progress.result!;
  for (const { seed, problem } of result.violations)
    console.log(`seed ${seed}: ${problem}\n  see it happen: npm run simulate -- --seed ${seed}`);
  console.log(countsText(result));
  const speed = Math.round(result.schedules / seconds());
  console.log(
    `${result.schedules.toLocaleString("en")} schedules, ${count(result.violations.length, "violation")}, ${seconds().toFixed(0)} s on ${count(cores, "core")}, ${speed} a second`,
  );
  process.exitCode = result.violations.length === 0 ? 0 : 1;
}

async function resultOf(child: ChildProcess, part: Part, progress: (done: number) => void): Promise<SimulationResult> {
  try {
    return await new Promise<SimulationResult>((resolve, reject) => {
      child.on("message", (said: Said) => ("done" in said ? progress(said.done) : resolve(said.result)));
      child.on("exit", (code) => reject(new Error(`a process ended with ${code}`)));
      child.send(part);
    });
  } finally {
    child.removeAllListeners("message").removeAllListeners("exit");
  }
}
