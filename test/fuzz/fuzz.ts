/** Sends drawn requests to the built `migrate serve`, several at a time, and gives what it found. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chanceOf, type Chance } from "../simulate/seeded-random.ts";
import { treeOf } from "../support/files.ts";
import { answerProblem, dumpIn } from "./check-answer.ts";
import { drawRequest, type DrawnRequest } from "./draw/requests.ts";
import { send, type Outcome } from "./send.ts";
import { aClient, keepShadow, lancedb, makeLarge, makePlace, renewTables } from "./tables.ts";
import { leftOf } from "./watch/left-behind.ts";
import { startServe, type Serving } from "./watch/start-serve.ts";
import { watchService, type Watched } from "./watch/watch-service.ts";
import { visit } from "./visits/visit.ts";

export interface FuzzOptions {
  readonly seed: number;
  readonly requests: number;
  /** The number of the first draw, which is a request or a visit: one can be sent again alone. */
  readonly first?: number;
  readonly connections?: number;
  /** After this many problems the fuzzer ends. */
  readonly most?: number;
  /** Starts a service in place of the built command: see watch/serve-here.ts. */
  readonly script?: string;
  /** Called now and then. */
  readonly tell?: (report: FuzzReport) => void;
}

export interface FuzzReport extends Watched {
  requests: number;
  /** How many visits there were, of several requests each. */
  visits: number;
  seconds: number;
  readonly byStatus: ReadonlyMap<string, number>;
  /** Routes that answered at least one request with success. */
  readonly succeeded: ReadonlySet<string>;
  /** Why requests failed inside, and how often. */
  causes: ReadonlyMap<string, number>;
  /** Rows of the table that others write to meanwhile. */
  shadowRows: number;
  /** The slowest answers of /healthz, with the requests beside them. */
  readonly slow: readonly string[];
  readonly problems: readonly string[];
}

const apiKey = "sk-fuzz-0815-never-in-an-answer";
/** In milliseconds. */
const slowestHealth = 1_000;
/** In megabytes: what a worker may take, and what the service itself needs with a few bodies of this size. */
const [workerMemory, bodyLimit, serviceMemory] = [1_024, 8, 600];
/** In megabytes, beyond the limit of a worker's data: programs, libraries, and files that are mapped. */
const besides = 400;
/** Requests after which the tables are created again. */
const renewAfter = 400;
/** How many of the draws are a visit: about half of all requests belong to one. */
const visitShare = 0.06;

const flags = Object.entries({
  workers: 4,
  "worker-memory": workerMemory,
  "body-limit": bodyLimit,
  "request-timeout": 10,
  "work-timeout": 10,
  // Longer than a visit, whose versions are compared.
  "index-after": 60,
}).map(([name, value]) => `--${name}=${value}`);

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const home = mkdtempSync(join(tmpdir(), "lance-migrate-fuzz-"));
  try {
    return await fuzzIn(home, options);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function fuzzIn(home: string, options: FuzzOptions): Promise<FuzzReport> {
  const place = await makePlace(home);
  const before = treeOf(place.outside);
  const serving = await startServe(place.folder, apiKey, options.script ?? flags);
  const client = aClient(serving.port, apiKey);
  const shadow = await keepShadow(client);
  await makeLarge(client);
  await renewTables(client);
  const atWork = new Map<number, string>();
  const slow: string[] = [];
  const { watched, stop } = watchService(serving.port, serving.pid, (words) => {
    if (slow.length < 10) slow.push(`${words}, beside ${[...atWork.values()].join("; ")}`);
  });
  const problems: string[] = [];
  const report = await sendAll(options, {
    serving,
    place,
    watched,
    problems,
    slow,
    atWork,
    renew: () => renewTables(client),
  });
  await stop();
  const isUp = !serving.hasEnded();
  if (isUp) problems.push(...(await shadow.stop()));
  else problems.push("the service ended");
  report.shadowRows = shadow.rows();
  // A service with a bug may never end what is left.
  if (isUp && options.script === undefined) problems.push(...(await leftOf(serving.port, place.folder)));
  const code = isUp ? await serving.stop() : 0;
  if (code !== 0) problems.push(`the service ended with ${code}`);
  problems.push(...problemsOf(report, serving));
  const after = treeOf(place.outside);
  if (JSON.stringify(after) !== JSON.stringify(before)) problems.push("something outside the data folder was changed");
  return report;
}

interface Scene {
  readonly serving: Serving;
  readonly place: { readonly folder: string };
  readonly watched: Watched;
  readonly problems: string[];
  readonly slow: readonly string[];
  readonly atWork: Map<number, string>;
  readonly renew: () => Promise<void>;
}

async function sendAll(
  { seed, requests, first = 0, connections = 6, most = 40, tell }: FuzzOptions,
  { serving, place, watched, problems, slow, atWork, renew }: Scene,
): Promise<FuzzReport> {
  const started = performance.now();
  const byStatus = new Map<string, number>();
  const succeeded = new Set<string>();
  const unlogged = new Map<string, string>();
  const report: FuzzReport = Object.assign(watched, {
    requests: 0,
    visits: 0,
    seconds: 0,
    byStatus,
    succeeded,
    causes: serving.causes,
    shadowRows: 0,
    slow,
    problems,
  });
  let next = first;
  const counted = (status: string) => {
    report.requests++;
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  };
  const visitOne = async (number: number, chance: Chance) => {
    report.visits++;
    // One for each visit, because it caches what it has read.
    const engine = await lancedb.connect(place.folder, { readConsistencyInterval: 0 });
    await visit({
      port: serving.port,
      apiKey,
      folder: place.folder,
      engine,
      chance,
      name: `visit-${number}`,
      sent: counted,
      report: (problem) => problems.push(`${number} (${report.requests} requests so far): ${problem}`),
    });
    engine.close();
  };
  const sendOne = async (number: number) => {
    const chance = chanceOf((seed * 1_000_003 + number) | 0);
    if (chance.happens(visitShare)) return await visitOne(number, chance);
    const request = drawRequest(chance, apiKey);
    atWork.set(number, `${number} ${request.method} ${request.path.slice(0, 60)} ${request.body.length} bytes`);
    const outcome = await send(serving.port, request, chance);
    atWork.delete(number);
    const status = statusOf(outcome);
    counted(status);
    const words = `${number}: ${request.method} ${request.path.slice(0, 200)} (${request.sending}), ${status}`;
    if (typeof outcome === "object") {
      if (outcome.status === 200) succeeded.add(request.route);
      if (outcome.status === 500) unlogged.set(outcome.headers["x-request-id"] ?? "", words);
    }
    const problem = answerProblem(request, outcome, { apiKey, folder: place.folder }) ?? dumpOf(outcome, request);
    if (problem !== undefined) problems.push(`${words}: ${problem}`);
  };
  const connection = async () => {
    while (report.requests < requests && problems.length < most && !serving.hasEnded()) {
      const number = next++;
      await sendOne(number);
      if ((number + 1) % renewAfter === 0) await renew();
      if ((number + 1) % 500 === 0) tell?.({ ...report, seconds: (performance.now() - started) / 1_000 });
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  for (const [id, words] of unlogged) if (!serving.failed.has(id)) problems.push(`${words}: not in the log`);
  report.seconds = (performance.now() - started) / 1_000;
  return report;
}

function dumpOf(outcome: Outcome, request: DrawnRequest): string | undefined {
  const dump = typeof outcome === "object" ? dumpIn(outcome, request) : undefined;
  return dump === undefined ? undefined : `the sentence is a dump: ${dump}`;
}

function statusOf(outcome: Outcome): string {
  return outcome === undefined ? "no answer" : typeof outcome === "string" ? "not HTTP" : String(outcome.status);
}

function problemsOf(report: FuzzReport, { leaks, strays }: Serving): readonly string[] {
  const megabytes = (bytes: number | undefined) => (bytes ?? 0) / 2 ** 20;
  const problems: string[] = [];
  if (report.worstOwnHealth > slowestHealth) problems.push(`/healthz took ${Math.round(report.worstOwnHealth)} ms`);
  if (megabytes(report.serviceMemory) > serviceMemory)
    problems.push(`the service used ${Math.round(megabytes(report.serviceMemory))} MB`);
  if (megabytes(report.workerMemory) > workerMemory + besides)
    problems.push(`a worker used ${Math.round(megabytes(report.workerMemory))} MB`);
  for (const line of leaks) problems.push(`the log has the key: ${line}`);
  for (const line of strays) problems.push(`the service wrote: ${line}`);
  return problems;
}

/** The figures, a line each. */
export function figures(report: FuzzReport): readonly string[] {
  const megabytes = (bytes: number | undefined) =>
    bytes === undefined ? "unknown" : `${Math.round(bytes / 2 ** 20)} MB`;
  const list = (counts: ReadonlyMap<string, number>) =>
    [...counts].toSorted(([, one], [, other]) => other - one).map(([what, count]) => `${what}: ${count}`);
  return [
    `${report.requests} requests in ${Math.round(report.seconds)} s; ${list(report.byStatus).join(", ")}`,
    `worst answer of /healthz ${Math.round(report.worstHealth)} ms, ${Math.round(report.worstOwnHealth)} ms without waiting for a processor; memory of the service ${megabytes(report.serviceMemory)}, of a worker ${megabytes(report.workerMemory)}`,
    `${report.visits} visits; ${report.succeeded.size} routes have succeeded; ${report.shadowRows} rows of the shadow table are complete`,
    ...report.slow.map((line) => `/healthz took ${line}`),
    ...list(report.causes).map((line) => `500, ${line}`),
  ];
}
