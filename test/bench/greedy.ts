/**
 * What clients with a key keep of their throughput while others send without reading, slowly, or connect again and again.
 * Rounds alone and rounds beside attackers take turns on one service. Attackers and clients are processes of their own, and
 * the attackers give way to the others (niceness), so that the processors of the machine are not what is measured. They take
 * some of them nevertheless, so there are also rounds in which the same attackers send to another process, which accepts
 * their connections and does nothing else: what the clients keep then, the "floor", is the most that a service could let them keep.
 * `npm run bench greedy [-- --rounds N --seconds N --attack "NAME;NAME" --nice N --bin FILE]`
 */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { childrenOf, processorTime, residentMemory } from "../support/processes.ts";
import type { Attack } from "./greedy-attackers.ts";
import type { Served } from "./greedy-clients.ts";
import { median } from "./measure.ts";
import { bin, optionsOf, temporaryFolder } from "./project.ts";

const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");
const values = optionsOf({ rounds: "4", seconds: "8", attack: "all", clients: "100", nice: "10", bin });
const key = "a-key-for-the-bench";
const [one, many] = [["127.0.0.2"], Array.from({ length: 200 }, (_, place) => `127.0.1.${place + 1}`)];

const attacks: Readonly<Record<string, Omit<Attack, "port">>> = {
  "unread and slow": { kinds: { unread: 1_000, "slow-heads": 1_000 }, addresses: one },
  "unread and slow, with a key": { kinds: { unread: 1_000, "slow-bodies": 1_000 }, addresses: one, key },
  "unread and slow, 200 addresses": { kinds: { unread: 1_000, "slow-heads": 1_000 }, addresses: many },
  "too many requests": { kinds: { pipelining: 1_000 }, addresses: one },
  "too many requests, 200 addresses": { kinds: { pipelining: 1_000 }, addresses: many },
  reconnecting: { kinds: { reconnecting: 1_000 }, addresses: one },
  "reconnecting, with a key": { kinds: { reconnecting: 1_000 }, addresses: one, key },
  "reconnecting, 200 addresses": { kinds: { reconnecting: 1_000 }, addresses: many },
  silent: { kinds: { silent: 2_000 }, addresses: one },
};
const wanted = values.attack === "all" ? Object.keys(attacks) : values.attack.split(";");

interface Round {
  /** Requests of the clients, each second. */
  readonly answered: number;
  readonly refused: number;
  /** Of a processor. */
  readonly busy: Readonly<Record<"service" | "workers" | "clients" | "attackers", number>>;
  /** The most in the round, in MB. */
  readonly memory: Readonly<Record<"service" | "workers", number>>;
}

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const service = spawn(process.execPath, [values.bin, "serve", "--data", temporaryFolder(), "--port", "0", "--json"], {
  env: { ...process.env, MIGRATE_API_KEY: key },
  stdio: ["ignore", "pipe", "ignore"],
});
process.on("exit", () => service.kill("SIGKILL"));
const [line] = (await once(service.stdout!, "data")) as [Buffer];
const { port, url } = JSON.parse(line.toString()) as { port: number; url: string };
const rows = new arrow.Table({
  id: arrow.vectorFromArray(
    Array.from({ length: 100 }, (_, id) => id),
    new arrow.Int32(),
  ),
});
const created = await fetch(`${url}/v1/tables/books`, {
  method: "POST",
  headers: { "x-api-key": key, "content-type": "application/vnd.apache.arrow.stream" },
  body: new Uint8Array(arrow.tableToIPC(rows, "stream")),
});
if (created.status !== 200) throw new Error(`the table was not created: ${await created.text()}`);
const clients = fork(script("greedy-clients.ts"), [String(port), key, values.clients]);
process.on("exit", () => clients.kill());
const sink = fork(script("greedy-sink.ts"));
process.on("exit", () => sink.kill());
const [sinkPort] = (await once(sink, "message")) as [number];
await round(); // warms up

const table: string[] = [];
for (const name of wanted) {
  const [onService, onSink] = [port, sinkPort].map((to) => {
    const attack = { ...attacks[name]!, port: to } satisfies Attack;
    const attackers = fork(script("greedy-attackers.ts"), [JSON.stringify(attack)]);
    setPriority(attackers.pid!, Number(values.nice));
    return attackers;
  });
  const alone: Round[] = [await round()];
  const [attacked, floor]: [Round[], Round[]] = [[], []];
  for (let turn = 0; turn < Number(values.rounds); turn++) {
    attacked.push(await attackedRound(onService!));
    floor.push(await attackedRound(onSink!));
    alone.push(await round());
    for (const [what, { answered, refused, busy, memory }] of [
      ["alone", alone.at(-1)!],
      [name, attacked.at(-1)!],
      ["floor", floor.at(-1)!],
    ] as const)
      console.log(JSON.stringify({ what, answered, refused, ...busy, memory }));
  }
  for (const attackers of [onService!, onSink!]) attackers.kill("SIGKILL");
  // Each beside the two between which it was.
  const ratiosOf = (rounds: readonly Round[]) =>
    rounds.map(({ answered }, at) => (2 * answered) / (alone[at]!.answered + alone[at + 1]!.answered));
  table.push(rowOf(name, [ratiosOf(attacked), ratiosOf(floor)], alone, attacked));
}
console.log(
  [
    "attack",
    "throughput",
    "floor",
    "alone",
    "beside",
    "refused",
    "attackers",
    "service",
    "workers",
    "service MB",
    "workers MB",
  ].join(" | "),
);
for (const row of table) console.log(row);
clients.kill();
sink.kill();
service.kill("SIGTERM");
await once(service, "exit");

/** Begins after two seconds of the attack, and leaves one for its end. */
async function attackedRound(attackers: ChildProcess): Promise<Round> {
  attackers.send(true);
  await sleep(2_000);
  const result = await round(attackers);
  attackers.send(false);
  await sleep(1_000);
  return result;
}

function rowOf(
  name: string,
  ratios: readonly (readonly number[])[],
  alone: readonly Round[],
  attacked: readonly Round[],
): string {
  const part = (of: number) => of.toFixed(2);
  const middle = (rounds: readonly Round[], of: (round: Round) => number) => median(rounds.map(of));
  const memory = (what: "service" | "workers") => attacked.map((round) => Math.round(round.memory[what])).join(", ");
  return [
    name,
    ...ratios.map((of) => `${part(median(of))} (${part(Math.min(...of))} to ${part(Math.max(...of))})`),
    middle(alone, ({ answered }) => answered).toFixed(0),
    middle(attacked, ({ answered }) => answered).toFixed(0),
    attacked.reduce((sum, { refused }) => sum + refused, 0),
    part(middle(attacked, ({ busy }) => busy.attackers)),
    part(middle(attacked, ({ busy }) => busy.service)),
    part(middle(attacked, ({ busy }) => busy.workers)),
    memory("service"),
    memory("workers"),
  ].join(" | ");
}

async function round(attackers?: ChildProcess): Promise<Round> {
  const workers = () => childrenOf(service.pid!);
  const timesNow = () => ({
    service: processorTime(service.pid!),
    workers: workers().reduce((sum, pid) => sum + processorTime(pid), 0),
    clients: processorTime(clients.pid!),
    attackers: attackers === undefined ? 0 : processorTime(attackers.pid!),
  });
  const memory = { service: 0, workers: 0 };
  const sampling = setInterval(() => {
    const megabytes = (pid: number) => (residentMemory(pid) ?? 0) / 2 ** 20;
    memory.service = Math.max(memory.service, megabytes(service.pid!));
    memory.workers = Math.max(
      memory.workers,
      workers().reduce((sum, pid) => sum + megabytes(pid), 0),
    );
  }, 200);
  const [started, before] = [performance.now(), timesNow()];
  clients.send(true);
  await sleep(1_000 * Number(values.seconds));
  clients.send(false);
  const [{ answered, refused }] = (await once(clients, "message")) as [Served];
  const seconds = (performance.now() - started) / 1_000;
  const after = timesNow();
  clearInterval(sampling);
  const busyOf = (what: keyof typeof before) => (after[what] - before[what]) / 1_000 / seconds;
  return {
    answered: answered / seconds,
    refused,
    busy: {
      service: busyOf("service"),
      workers: busyOf("workers"),
      clients: busyOf("clients"),
      attackers: busyOf("attackers"),
    },
    memory,
  };
}
