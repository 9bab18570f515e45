/**
 * Many clients add, merge, change, delete and read rows through one `migrate serve`, whose workers and which itself are
 * killed meanwhile. Each client knows what was acknowledged, and every read and the tables at the end are compared with it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isConflict } from "../../src/engine/problem/engine-problem.ts";
import { chanceFor, type Chance } from "../simulate/seeded-random.ts";
import { judgeTables } from "./judge.ts";
import { createRecord, type Found, type Outcome, type Problem, type RowRecord, type Value } from "./record.ts";
import { startRestarted, type RestartedService } from "./restarted-service.ts";
import { startClients, type Answer, type ClientProcess, type Row, type Task } from "./tasks.ts";

const lancedb = createRequire(import.meta.url)("@lancedb/lancedb") as typeof import("@lancedb/lancedb");

export interface CrowdOptions {
  readonly seed: number;
  /** What the next three numbers count: on a busy machine, few operations come in a second. */
  readonly unit: "seconds" | "operations";
  readonly length: number;
  /** Between two kills of a worker, and of the service. */
  readonly killWorker: number;
  readonly killService: number;
  readonly clients: number;
  /** How many of them are in Python. */
  readonly python: number;
  /** The command of another build. */
  readonly bin?: string | undefined;
  /** Called every ten seconds. */
  readonly tell?: (report: CrowdReport) => void;
}

export interface CrowdReport {
  seconds: number;
  /** How often each operation came to each outcome. */
  readonly operations: Map<Task["what"], Map<Outcome, number>>;
  workersKilled: number;
  servicesKilled: number;
  servicesStopped: number;
  compactions: number;
  /** Rows at the end. */
  rows: number;
  readonly problems: Problem[];
}

// A compaction that others' commits preempt is no event.
process.env["LANCE_LOG"] ??= "error";
const apiKey = "a-key-for-the-crowd";
/** Those with an odd number are retyped. A merge would need to know the types of the moment. */
const tables = ["t0", "t1", "t2", "t3", "t4", "t5"];
const isRetyped = (table: string) => Number(table.slice(1)) % 2 === 1;
/** Each client has ids of its own. */
const idsOfClient = 1_000_000;
/** Of those in one process. */
const clientsOfProcess = 25;
/** After this many problems the crowd ends. */
const mostProblems = 40;

interface Scene extends CrowdOptions {
  readonly folder: string;
  readonly service: RestartedService;
  readonly report: CrowdReport;
  /** By client, and then by table. The last client makes the tables, and changes them. */
  readonly records: readonly ReadonlyMap<string, RowRecord>[];
  /** In the unit of the options. */
  readonly progress: () => number;
  readonly isOver: () => boolean;
}

export async function runCrowd(options: CrowdOptions): Promise<CrowdReport> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-crowd-"));
  try {
    return await runIn(folder, options);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runIn(folder: string, options: CrowdOptions): Promise<CrowdReport> {
  const { clients, unit, length, bin, tell } = options;
  const report: CrowdReport = {
    seconds: 0,
    operations: new Map(),
    workersKilled: 0,
    servicesKilled: 0,
    servicesStopped: 0,
    compactions: 0,
    rows: 0,
    problems: [],
  };
  const tellProblem = (words: string) => void report.problems.push({ kind: "other", words });
  const service = await startRestarted({ folder, apiKey, bin, report: tellProblem });
  const processes = processesOf(options, service.url);
  const records = Array.from(
    { length: clients + 1 },
    (_, client) => new Map(tables.map((table) => [table, createRecord(table, (value) => textOf(client, value))])),
  );
  let started = performance.now();
  const progress = () =>
    unit === "seconds" ? (performance.now() - started) / 1_000 : numberOf(report.operations, "acknowledged");
  const isOver = () => progress() >= length || report.problems.length >= mostProblems;
  const scene: Scene = { ...options, folder, service, report, records, progress, isOver };
  try {
    await createTables(scene, processes(clients));
    started = performance.now();
    const telling = setInterval(() => {
      report.seconds = Math.round((performance.now() - started) / 1_000);
      tell?.(report);
    }, 10_000);
    await Promise.all([
      ...Array.from({ length: clients }, (_, client) => beClient(scene, client, processes(client))),
      changeTables(scene, processes(clients)),
      compact(scene),
      killWorkers(scene),
      killServices(scene),
    ]);
    clearInterval(telling);
    report.seconds = Math.round((performance.now() - started) / 1_000);
  } finally {
    const started = new Set(Array.from({ length: clients + 1 }, (_, client) => processes(client)));
    await Promise.all([...started].map((process) => process.stop()));
    await service.stop();
  }
  const { rows, problems } = await judgeTables({ ...scene, tables, idsOfClient, wordOf });
  report.rows = rows;
  report.problems.push(...problems);
  return report;
}

/** Gives the process of a client. */
function processesOf({ clients, python }: CrowdOptions, url: string): (client: number) => ClientProcess {
  const started = new Map<string, ClientProcess>();
  return (client) => {
    const language = client < clients && client >= clients - python ? "python" : "javascript";
    const name = `${language} ${language === "python" ? 0 : Math.floor(client / clientsOfProcess)}`;
    const known = started.get(name) ?? startClients(language, url, apiKey);
    started.set(name, known);
    return known;
  };
}

const wordOf = (client: number) => `client${client}`;
const textOf = (client: number, value: number) => `${wordOf(client)} value${value}`;

function rowOf(id: number, value: number): Row {
  const [client, place] = [Math.floor(id / idsOfClient), id % idsOfClient];
  return { id, value, text: textOf(client, value), vector: [client, Math.floor(place / 1_000), place % 1_000, 1] };
}

const indexed = ["id", "text", "vector"];

async function createTables({ clients, records }: Scene, process: ClientProcess): Promise<void> {
  for (const table of tables) {
    const ids = Array.from({ length: 300 }, (_, place) => clients * idsOfClient + place);
    const task = { client: clients, repeats: false, table } as const;
    await mustDo(process, { ...task, what: "create", rows: ids.map((id) => rowOf(id, 1)) });
    records[clients]!.get(table)!.wrote(ids, () => 1, "acknowledged");
    for (const column of indexed) await mustDo(process, { ...task, what: "index", column });
  }
}

async function mustDo(process: ClientProcess, task: Omit<Task, "number">): Promise<void> {
  const answer = await process.ask(task);
  if ("error" in answer) throw new Error(`${task.what} of ${task.table}: ${answer.error}`);
}

/** One request after another. */
async function beClient(scene: Scene, client: number, process: ClientProcess): Promise<void> {
  const chance = chanceFor(`client ${client}`, scene.seed);
  const repeats = client % 4 === 3;
  let [rows, value] = [0, 1];
  while (!scene.isOver()) {
    // What is sent again may be done twice. A merge that is done twice is done once.
    const table = chance.pick(repeats ? tables.filter((name) => !isRetyped(name)) : tables);
    const record = scene.records[client]!.get(table)!;
    const drawn = drawTask(chance, { client, table, repeats, record, nextId: client * idsOfClient + rows, value });
    rows += drawn.added;
    value++;
    const task = { client, repeats, table, ...drawn.task };
    const answer = await process.ask(task);
    const outcome = outcomeOf(scene, task, answer);
    if (drawn.change !== undefined) record.wrote(drawn.ids, drawn.change, outcome);
    else if (outcome === "acknowledged") compareRead(scene, task, record, (answer as { value: unknown }).value);
    if (outcome !== "acknowledged") await sleep(50);
  }
}

interface DrawnTask {
  readonly task: Pick<Task, "what" | "rows" | "where" | "values">;
  readonly ids: readonly number[];
  /** How many ids are new. */
  readonly added: number;
  /** What becomes of the values; undefined for a read. */
  readonly change: ((before: Value) => Value) | undefined;
}

interface DrawingFor {
  readonly client: number;
  readonly table: string;
  readonly repeats: boolean;
  readonly record: RowRecord;
  readonly nextId: number;
  readonly value: number;
}

function drawTask(chance: Chance, { client, table, repeats, record, nextId, value }: DrawingFor): DrawnTask {
  const known = record.ids();
  const add = (): DrawnTask => {
    const ids = Array.from({ length: 1 + chance.below(3) }, (_, place) => nextId + place);
    const rows = ids.map((id) => rowOf(id, value));
    return { task: { what: repeats ? "merge" : "add", rows }, ids, added: ids.length, change: () => value };
  };
  const merge = (): DrawnTask => {
    const ids = [...new Set([nextId, chance.pick(known), chance.pick(known)])];
    return { task: { what: "merge", rows: ids.map((id) => rowOf(id, value)) }, ids, added: 1, change: () => value };
  };
  const update = (): DrawnTask => {
    const ids = [chance.pick(known)];
    const task = { what: "update", where: `id = ${ids[0]}`, values: { value, text: textOf(client, value) } } as const;
    return { task, ids, added: 0, change: (before) => (before === undefined ? undefined : value) };
  };
  const remove = (): DrawnTask => {
    const ids = [chance.pick(known), chance.pick(known)];
    return {
      task: { what: "delete", where: `id IN (${ids.join(", ")})` },
      ids,
      added: 0,
      change: () => undefined,
    };
  };
  const mine = `id >= ${client * idsOfClient} AND id < ${(client + 1) * idsOfClient}`;
  const look = (what: "read" | "count"): DrawnTask => ({
    task: { what, where: mine },
    ids: [],
    added: 0,
    change: undefined,
  });
  if (known.length === 0 || chance.happens(0.25)) return add();
  if (!isRetyped(table) && chance.happens(0.3)) return merge();
  return chance.pick([update, update, remove, () => look("read"), () => look("read"), () => look("count")])();
}

function compareRead(
  { report }: Scene,
  { what, table, client }: Task | Omit<Task, "number">,
  record: RowRecord,
  read: unknown,
) {
  if (what === "read") {
    const found = (read as [number, number | null, string][]).map(([id, value, text]): Found => ({ id, value, text }));
    report.problems.push(...record.read(found).map((problem) => ({ ...problem, words: `a read: ${problem.words}` })));
    return;
  }
  const [fewest, most] = record.bounds();
  if ((read as number) >= fewest && (read as number) <= most) return;
  const words = `client ${client} counts ${String(read)} rows in ${table}, and there are ${fewest} to ${most}`;
  report.problems.push({ kind: (read as number) < fewest ? "lost" : "doubled", words });
}

const reads: ReadonlySet<string> = new Set(["read", "count"]);

/** Counts the outcome too. Answers that no kill explains are problems. */
function outcomeOf({ report }: Scene, task: Omit<Task, "number">, answer: Answer): Outcome {
  const outcome = "error" in answer ? outcomeOfError(task, answer) : "acknowledged";
  const counts = report.operations.get(task.what) ?? new Map<Outcome, number>();
  report.operations.set(task.what, counts);
  const known = outcome ?? "unknown";
  counts.set(known, (counts.get(known) ?? 0) + 1);
  if (outcome === undefined) {
    const words = `client ${task.client}, ${task.what} of ${task.table}: ${(answer as { error: string }).error}`;
    report.problems.push({ kind: "other", words: words.slice(0, 500) });
  }
  return known;
}

/** Undefined for one that should not be. */
function outcomeOfError(task: Omit<Task, "number">, error: { error: string; isSent: boolean }): Outcome | undefined {
  const status = /(?:\)|Caused by:|HttpError:)\s(\d{3})\s/.exec(error.error)?.[1];
  // A client may look at the table before it writes.
  const isRead = reads.has(task.what) || /"instance":"[^"]*\/describe\/"/.test(error.error);
  const mayBeDone = error.isSent && !isRead;
  // Of several tries, the last one tells nothing of those before it.
  const refused = mayBeDone && task.repeats ? "unknown" : "refused";
  if (status === "409" || status === "503") return refused;
  if (status === "500") return mayBeDone ? undefined : "refused";
  if (status === "520") return mayBeDone ? "unknown" : undefined;
  if (status !== undefined) return undefined;
  // No connection, so nothing was sent.
  if (!mayBeDone || (/connect_failures=[1-9]|Connection refused/.test(error.error) && !task.repeats)) return "refused";
  return /error sending request|connection|incomplete|reset|closed|broken pipe|retry limit/i.test(error.error)
    ? "unknown"
    : undefined;
}

/** Retypes a column, or builds an index again, which nothing else may happen beside. */
async function changeTables(scene: Scene, process: ClientProcess): Promise<void> {
  const chance = chanceFor("changes", scene.seed);
  const widths = new Map<string, boolean>();
  while (!scene.isOver()) {
    await sleep(1_000);
    const table = chance.pick(tables);
    const isWide = !(widths.get(table) ?? false);
    const change = isRetyped(table)
      ? ({ what: "retype", column: "value", isWide } as const)
      : ({ what: "index", column: chance.pick(indexed) } as const);
    const task = { client: scene.clients, repeats: false, table, ...change };
    // To the type that it has already, it changes nothing.
    if (outcomeOf(scene, task, await process.ask(task)) !== "refused" && change.what === "retype")
      widths.set(table, isWide);
  }
}

/** As docs/service.md advises. Versions that are read stay. */
async function compact({ folder, report, isOver }: Scene): Promise<void> {
  const db = await lancedb.connect(folder);
  for (let turn = 0; !isOver(); turn++) {
    await sleep(3_000);
    const table = await db.openTable(tables[turn % tables.length]!);
    try {
      await table.optimize({ cleanupOlderThan: new Date(Date.now() - 120_000) });
      report.compactions++;
    } catch (error) {
      if (!isConflict(error))
        report.problems.push({ kind: "other", words: `optimize: ${String(error).slice(0, 400)}` });
    } finally {
      table.close();
    }
  }
  db.close();
}

/** Waits until so much more is done; whether it is not over. */
async function more({ progress, isOver }: Scene, amount: number): Promise<boolean> {
  const goal = progress() + amount;
  while (progress() < goal && !isOver()) await sleep(50);
  return !isOver();
}

async function killWorkers(scene: Scene): Promise<void> {
  const { seed, service, report, killWorker } = scene;
  const chance = chanceFor("workers", seed);
  while (await more(scene, killWorker * chance.between(0.5, 1.5))) {
    if (service.killWorker((workers) => chance.pick(workers))) report.workersKilled++;
  }
}

/** Of three times, once it is asked to end. */
async function killServices(scene: Scene): Promise<void> {
  const { service, report, killService } = scene;
  for (let turn = 1; await more(scene, killService); turn++) {
    const isStop = turn % 3 === 0;
    await service.restart(isStop ? "SIGTERM" : "SIGKILL");
    if (isStop) report.servicesStopped++;
    else report.servicesKilled++;
  }
}

function numberOf(operations: CrowdReport["operations"], outcome: Outcome): number {
  return [...operations.values()].reduce((sum, counts) => sum + (counts.get(outcome) ?? 0), 0);
}

/** The figures, a line each. */
export function figures(report: CrowdReport): readonly string[] {
  const { operations, seconds, problems, rows } = report;
  const of = (outcome: Outcome) => numberOf(operations, outcome);
  const list = [...operations].map(([what, counts]) => {
    const outcomes = (["acknowledged", "unknown", "refused"] as const).map((outcome) => counts.get(outcome) ?? 0);
    return `${what} ${outcomes.join("/")}`;
  });
  const kinds = (["lost", "doubled", "wrong", "other"] as const).map(
    (kind) => `${problems.filter((problem) => problem.kind === kind).length} ${kind}`,
  );
  const { workersKilled, servicesKilled, servicesStopped, compactions } = report;
  return [
    `${seconds} s: ${of("acknowledged")} operations acknowledged, ${of("unknown")} unknown, ${of("refused")} refused (${list.join(", ")})`,
    `${workersKilled} workers killed, the service killed ${servicesKilled} and stopped ${servicesStopped} times; ${compactions} compactions`,
    `${rows} rows at the end; ${kinds.join(", ")}`,
  ];
}
