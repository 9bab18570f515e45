/** A worker of the service: a process that performs one request after another. What crashes it costs one request. */
import workerpool from "workerpool";
import { openTables, type ServedTables } from "../tables/open-tables.ts";
import { perform, type Job, type JobLimits } from "./perform.ts";

export interface WorkerOptions extends JobLimits {
  readonly folder: string;
}

const { folder, ...limits } = JSON.parse(process.argv[2]!) as WorkerOptions;
let tables: Promise<ServedTables> | undefined;

// A terminal sends these to the whole group of processes. The service ends its workers when their requests are answered.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

workerpool.worker({
  perform: async (job: Job) => await perform(job, await (tables ??= openTables(folder)), limits),
});
