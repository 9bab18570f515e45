/** A worker of the service: a process that performs one request after another. What crashes it costs one request. */
import { setPriority } from "node:os";
import workerpool from "workerpool";
import { openTables, type ServedTables } from "../tables/open-tables.ts";
import type { DataFolder } from "../tables/data-folder.ts";
import { cover } from "./cover.ts";
import { perform, type Job, type JobLimits } from "./perform.ts";

export interface WorkerOptions extends JobLimits {
  readonly data: DataFolder;
}

export interface WorkerSettings extends WorkerOptions {
  /** For each of the engine's two caches, whose usual sizes of 6 GB and 1 GB are more than a worker may take. */
  readonly cacheBytes: number;
}

const { cacheBytes, ...options } = JSON.parse(process.argv[2]!) as WorkerSettings;
const lowPriority = 5;
let tables: ServedTables | undefined;

// A terminal sends these to the whole group of processes. The service ends its workers when their requests are answered.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const) process.on(signal, () => {});

const open = async () => (tables ??= await openTables(options.data.path, cacheBytes));

workerpool.worker({
  perform: async (job: Job) => {
    workerpool.workerEmit(process.pid);
    return await perform(job, options, open);
  },
  cover: async (table: string, leastUncovered: number) => {
    workerpool.workerEmit(process.pid);
    // Before the engine starts its threads, which inherit it: requests come first.
    if (tables === undefined) setPriority(lowPriority);
    return await cover(table, leastUncovered, options.data, open);
  },
});
