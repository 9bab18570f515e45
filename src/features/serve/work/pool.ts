/**
 * The pool of workers. The engine can crash on a request, or take all memory, so requests are performed in processes of
 * their own (docs/service.md, "What a request can't do").
 */
import { isError } from "../../../checks/realm.ts";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Pool } from "workerpool";
import { workerpool } from "./packages.ts";
import { codes, type Problem } from "../tables/error-answer.ts";
import { openTables } from "../tables/open-tables.ts";
import { discard, fileOfBody } from "./body.ts";
import { perform, type Job, type JobOutcome } from "./perform.ts";
import type { WorkerOptions, WorkerSettings } from "./worker.ts";

export interface PoolOptions extends WorkerOptions {
  /** The most processes; 0 performs requests in this process. */
  readonly workers: number;
  /** The most memory that a worker may take, in bytes. Has an effect on Linux. */
  readonly workerMemory: number;
  /** Milliseconds after which a request is given up. */
  readonly workTimeout: number;
}

export interface Workers {
  /** `mayChange` is whether the job may change a table. */
  perform(job: Job, mayChange: boolean): Promise<JobOutcome>;
  /** How many jobs may be performed at a time. */
  readonly places: number;
  /** Cuts off what is being performed. */
  close(): Promise<void>;
}

export const usualWorkers = Math.max(4, availableParallelism());

export async function startWorkers(options: PoolOptions): Promise<Workers> {
  const { workers, workTimeout, data } = options;
  if (workers === 0) return await performHere(options);
  const pool = startPool(options, { minWorkers: 1, maxWorkers: workers });
  const atWork = new Set<ReturnType<typeof limitTime>>();
  let isClosing = false;
  return {
    places: workers,
    perform: async (job, mayChange) => {
      if (isClosing) return { problem: ending };
      const time = limitTime(workTimeout);
      atWork.add(time);
      try {
        return await sendJob<JobOutcome>(pool, "perform", [job], time.begin, () => !isClosing);
      } catch (error) {
        discard({ file: fileOfBody(data, job.answerId) });
        return { problem: problemOf(time.isOver() ? workTimeout : undefined, mayChange), cause: causeOf(error) };
      } finally {
        time.end();
        atWork.delete(time);
      }
    },
    async close() {
      // What waits for its turn would begin when what is at work is cut off.
      isClosing = true;
      // A worker that is asked to end finishes its request first.
      for (const time of atWork) time.kill();
      await endPool(pool);
    },
  };
}

export function startPool(
  { workerMemory, data, bodyLimit, answerLimit }: PoolOptions,
  size: { readonly minWorkers: number; readonly maxWorkers: number },
): Pool {
  // Everybody on the machine can see arguments, so no other option may be among them.
  const settings: WorkerSettings = { data, bodyLimit, answerLimit, cacheBytes: Math.floor(workerMemory / 16) };
  return workerpool.pool(script, {
    workerType: "process",
    ...size,
    forkArgs: [JSON.stringify(settings)],
    forkOpts: { ...forkOptions(workerMemory), serialization: "advanced" },
    // What the engine prints when it panics contains texts of requests, so it must not get into the service's log.
    emitStdStreams: true,
  });
}

/**
 * A worker that died while it was idle is noticed only when it is to get a job. Nothing was sent to it then: a job that may
 * have begun is never repeated.
 */
export async function sendJob<Result>(
  pool: Pool,
  name: string,
  parameters: readonly unknown[],
  begin: (sent: unknown) => void,
  mayRepeat: () => boolean,
): Promise<Result> {
  for (let retries = pool.maxWorkers ?? 1; ; retries--)
    try {
      return (await pool.exec(name, [...parameters], { on: begin })) as Result;
    } catch (error) {
      if (!isUnsent(error) || retries === 0 || !mayRepeat()) throw error;
    }
}

/** It waits in vain for a worker that has died while it was idle. */
export async function endPool(pool: Pool): Promise<void> {
  await Promise.race([pool.terminate(true), sleep(2_000)]);
}

/**
 * Kills the process that works for too long. The pool's own timeout would report that before the process has ended, and
 * the locks on its tables would be released while it may still commit.
 */
export function limitTime(milliseconds: number) {
  let timer: NodeJS.Timeout | undefined;
  let pid: number | undefined;
  let [isOver, isKilled] = [false, false];
  const kill = () => {
    isKilled = true;
    try {
      if (pid !== undefined) process.kill(pid, "SIGKILL");
    } catch {
      // It has ended at this moment.
    }
  };
  return {
    /** The pool also calls it with what the engine prints. */
    begin: (sent: unknown) => {
      if (typeof sent !== "number" || pid !== undefined) return;
      pid = sent;
      if (isKilled) return kill();
      timer = setTimeout(() => {
        isOver = true;
        kill();
      }, milliseconds);
    },
    kill,
    end: () => clearTimeout(timer),
    isOver: () => isOver,
  };
}

async function performHere(options: WorkerOptions): Promise<Workers> {
  const tables = await openTables(options.data.path);
  return {
    places: Infinity,
    perform: (job) => perform(job, options, async () => tables),
    close: async () => tables.close(),
  };
}

// The built package has the worker beside this file's chunk.
const script = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "worker.ts" : "worker.js", import.meta.url));

/**
 * A shell limits the memory, since Node can't. Not all memory counts, as address space would: V8 reserves much more of
 * that than it uses.
 */
function forkOptions(workerMemory: number): object {
  if (process.platform !== "linux") return {};
  const kilobytes = Math.floor(workerMemory / 1024);
  return {
    execPath: "/bin/sh",
    execArgv: ["-c", `ulimit -c 0; ulimit -d ${kilobytes}; exec "$0" "$@"`, process.execPath],
  };
}

/** What LanceDB's clients do not repeat, as they do 500 and 503: a row that was inserted would be inserted twice. */
const unknownOutcome = 520;

function problemOf(given: number | undefined, mayChange: boolean): Problem {
  const why =
    given === undefined
      ? "the process that worked on this request ended: the request needs too much memory, or makes the engine crash"
      : `the request was given up after ${given / 1_000} seconds`;
  const { internal, unavailable } = codes;
  if (mayChange)
    return { status: unknownOutcome, code: internal, error: `${why}; whether it changed anything is unknown` };
  return given === undefined
    ? { status: 500, code: internal, error: why }
    : { status: 503, code: unavailable, error: why };
}

const ending: Problem = { status: 503, code: codes.unavailable, error: "the service is ending; try again" };

/** The pool tells this from the end of a worker at work by its message alone. */
function isUnsent(error: unknown): boolean {
  return isError(error) && error.message === "Worker is terminated";
}

export function causeOf(error: unknown): string {
  const signal = /signalCode: `(\w+)`/.exec(String(error))?.[1];
  return signal === undefined ? String(error).split("\n", 1)[0]! : `the worker ended with ${signal}`;
}
