/**
 * Many clients of one `migrate serve`: what they were told is stored must be there, whatever is killed meanwhile.
 * `npm run bench serve [-- --clients N --seconds N --kill none|workers|all --bin FILE]`
 * `--bin` takes the command of another build, to compare with. Ends with 1 if an acknowledged row is missing.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { bin, lancedb, optionsOf, temporaryFolder } from "./project.ts";

const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");

const values = optionsOf({ clients: "100", seconds: "600", kill: "all", bin });
const clients = Number(values.clients);
const tables = 10;
const apiKey = "a-key-for-the-bench";
const arrowType = "application/vnd.apache.arrow.stream";
const folder = temporaryFolder();

/** Numbers of requests, and milliseconds of those that were answered with 200. */
const counts = { insert: 0, count: 0, query: 0, refused: 0, unanswered: 0, workersKilled: 0, servicesKilled: 0 };
const waits: number[] = [];
const health: number[] = [];
const acknowledged = new Map<string, number[]>();

let port = 0;
let service: ChildProcess = await start();
try {
  for (let table = 0; table < tables; table++) {
    const created = await send(`/v1/tables/t${table}`, rowOf(-1), arrowType);
    if (created !== 200) throw new Error(`a table was not created: ${created}`);
  }
  const end = performance.now() + Number(values.seconds) * 1_000;
  const work = Array.from({ length: clients }, (_, client) => beClient(client, end));
  await Promise.all([...work, watchHealth(end), ...(values.kill === "none" ? [] : [kill(end)])]);
  await report();
} finally {
  service.kill("SIGTERM");
  await once(service, "exit");
}

async function start(): Promise<ChildProcess> {
  const args = [values.bin, "serve", "--data", folder, "--port", String(port), "--quiet", "--json"];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, MIGRATE_API_KEY: apiKey },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  port = (JSON.parse(line.toString()) as { port: number }).port;
  return child;
}

/** Inserts a row, counts and queries, one request after another. A row's number is not used again. */
async function beClient(client: number, end: number): Promise<void> {
  for (let turn = 0; performance.now() < end; turn++) {
    const table = `t${(client + turn) % tables}`;
    const id = client * 1_000_000 + turn;
    if ((await timed("insert", () => send(`/v1/table/${table}/insert`, rowOf(id), arrowType))) === 200)
      acknowledged.set(table, [...(acknowledged.get(table) ?? []), id]);
    await timed("count", () => send(`/v1/table/${table}/count_rows`, JSON.stringify({ predicate: `id = ${id}` })));
    await timed("query", () =>
      send(`/v1/table/${table}/query`, JSON.stringify({ vector: [], k: 5, filter: `id >= ${id}` })),
    );
  }
}

async function timed(kind: "insert" | "count" | "query", act: () => Promise<number>): Promise<number> {
  const started = performance.now();
  const status = await act();
  if (status === 200) {
    counts[kind]++;
    waits.push(performance.now() - started);
  } else {
    counts[status === 0 ? "unanswered" : "refused"]++;
    await sleep(50);
  }
  return status;
}

/** The status; 0 without an answer. */
async function send(path: string, body: string | Uint8Array<ArrayBuffer>, type = "application/json"): Promise<number> {
  try {
    const headers = { "x-api-key": apiKey, "content-type": type };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

async function watchHealth(end: number): Promise<void> {
  while (performance.now() < end) {
    const started = performance.now();
    const isUp = await fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false, // it is being started again
    );
    if (isUp) health.push(performance.now() - started);
    await sleep(100);
  }
}

/** A worker every two seconds, the service every thirty. */
async function kill(end: number): Promise<void> {
  for (let turn = 1; performance.now() < end - 5_000; turn++) {
    await sleep(2_000);
    if (turn % 15 === 0 && values.kill === "all") {
      service.kill("SIGKILL");
      await once(service, "exit");
      service = await start();
      counts.servicesKilled++;
    } else if (killWorker()) counts.workersKilled++;
  }
}

function killWorker(): boolean {
  const mine = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === service.pid);
  const chosen = mine[Math.floor(Math.random() * mine.length)];
  return chosen !== undefined && process.kill(Number(chosen), "SIGKILL");
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ")[1],
    );
  } catch {
    return undefined; // it has ended meanwhile
  }
}

async function report(): Promise<void> {
  const db = await lancedb.connect(folder);
  let missing = 0;
  for (const [name, ids] of acknowledged) {
    const rows = await (await db.openTable(name)).query().select(["id"]).toArray();
    const stored = new Set(rows.map((row) => Number((row as { id: unknown }).id)));
    missing += ids.filter((id) => !stored.has(id)).length;
  }
  const requests = counts.insert + counts.count + counts.query;
  console.log(JSON.stringify(counts));
  console.log(
    `${clients} clients, ${values.seconds} s: ${(requests / Number(values.seconds)).toFixed(0)} requests a second; ` +
      `half within ${at(waits, 0.5)} ms, 99 of 100 within ${at(waits, 0.99)} ms; /healthz within ${at(health, 1)} ms`,
  );
  const all = [...acknowledged.values()].flat().length;
  console.log(`${all} rows acknowledged, ${missing} missing`);
  if (missing > 0) process.exitCode = 1;
}

function at(sample: number[], part: number): string {
  const sorted = sample.toSorted((one, other) => one - other);
  return (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(0);
}

function rowOf(id: number): Uint8Array<ArrayBuffer> {
  const rows = new arrow.Table({ id: arrow.vectorFromArray([BigInt(id)], new arrow.Int64()) });
  return new Uint8Array(arrow.tableToIPC(rows, "stream"));
}
