/**
 * `prepare`, `up` and `down` of a change of the embedding model are killed, and some suspended before, while applications add,
 * change and delete rows. So is the program in Python that loads values.
 */
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { drawnChance } from "../support/kill-moments.ts";
import { lacks } from "../support/needs.ts";
import { leaping, type Project, type Running } from "../support/project.ts";
import { ofThisTurn, rounds } from "../support/rounds.ts";
import { serveProcess } from "../support/serve.ts";
import { lancedb } from "../support/tables.ts";
import { oldVectorOf } from "../support/vector-of.ts";
import type { Chance } from "../simulate/seeded-random.ts";
import {
  aScene,
  batch,
  computing,
  concurrency,
  ended,
  paidFor,
  startWriter,
  wrong,
  type Said,
  type Scene,
} from "./backfill-scene.ts";

const kills = rounds(2, 70);
/** Of `up` in one change. Each run that follows a killed one waits for its lease. */
const mostOfUp = rounds(1, Infinity);

interface Outcome {
  /** How often `prepare` was killed, how often `up`, how often `up` after the switch, how often `down`, and the loader. */
  readonly killed: { prepare: number; up: number; switched: number; down: number; loader: number };
  readonly computed: number;
  readonly twice: number;
  readonly said: readonly Said[];
}

async function columnsIn({ database }: Project): Promise<readonly string[]> {
  const { fields } = await (await (await lancedb.connect(database)).openTable("docs")).schema();
  return fields.map(({ name }) => name);
}

async function isSwitched(project: Project): Promise<boolean> {
  return (await columnsIn(project)).includes("embedding_old");
}

/** Until the names of the columns are switched or the run is over, which is a second later at least. */
async function switched({ process }: Running, project: Project): Promise<void> {
  while (process.exitCode === null && !(await isSwitched(project))) await sleep(100);
}

/** Whether it was killed before it had ended. */
async function kill(running: Running): Promise<boolean> {
  running.process.kill("SIGKILL");
  await running.finished;
  return running.process.signalCode === "SIGKILL";
}

interface Started extends Running {
  /** Starts the same command with the same clock: when that leaps over the lease, the first one notices it too. */
  readonly successor: () => Running;
}

function start({ start: command }: Project, args: readonly string[]): Started {
  const clock = leaping();
  return { ...command(args, clock), successor: () => command(args, clock) };
}

/**
 * Before it is killed, it may be suspended until a successor has taken its place, which is killed then too. How many of
 * them were killed before they had ended.
 */
async function suspendAndKill(running: Started, chance: Chance): Promise<number> {
  if (running.process.exitCode !== null || !chance.happens(0.3)) return Number(await kill(running));
  running.process.kill("SIGSTOP");
  const next = running.successor();
  await Promise.race([next.finished, sleep(1_000 + chance.below(3_000))]);
  running.process.kill("SIGCONT");
  await Promise.race([running.finished, sleep(chance.below(1_000))]);
  return Number(await kill(running)) + Number(await kill(next));
}

/** Kills the programs in Python that the run has started: whether there was one. */
function killLoader({ process: { pid } }: Running): boolean {
  return spawnSync("pkill", ["-KILL", "-P", String(pid), "python"]).status === 0;
}

/** Changes the model of a table, with kills until `up` has ended. In odd rounds, `prepare` ends before `up` begins. */
async function changeModel(way: "lance" | "namespace", round: number): Promise<Outcome> {
  const { chance } = drawnChance();
  let service: Running | undefined;
  const serve = async (data: string) => {
    const started = await serveProcess(data);
    service = started;
    return started.url;
  };
  const scene = await aScene(way, rounds(300, 1_000) + chance.below(rounds(1, 3_000)), {
    change: "reembed",
    serve,
  });
  const { project } = scene;
  const killed = { prepare: 0, up: 0, switched: 0, down: 0, loader: 0 };
  const old = await Promise.all([1_000_000, 2_000_000].map((first) => startWriter(scene, first, ["old"])));
  for (let time = 0; time < rounds(2, 3); time++) {
    const before = paidFor(project).length;
    const running = start(project, ["prepare"]);
    if (time === 0) await computing(running, project, before);
    for (const end = performance.now() + chance.next() * (time === 0 ? 1_000 : 3_000); performance.now() < end;)
      if ((await sleep(50), chance.happens(0.3)) && killLoader(running)) killed.loader++;
    killed.prepare += await suspendAndKill(running, chance);
  }
  if (round % 2 === 1) expect(await project.migrate(["prepare"], leaping())).toMatchObject({ code: 0 });
  const said = await Promise.all(old.map(ended));
  const both = await Promise.all([3_000_000, 4_000_000].map((first) => startWriter(scene, first, ["both"])));
  let isOver = false;
  for (let time = 0; !isOver; time++) {
    const running = start(project, ["up"]);
    if (time % 2 === 1) await Promise.race([switched(running, project), sleep(20_000)]);
    if (killed.up >= mostOfUp) await running.finished;
    // After the switch it waits for writers for a second.
    const most = time % 2 === 1 ? 1_500 : 1_500 + 1_500 * time;
    await Promise.race([running.finished, sleep(chance.next() * most)]);
    const times = await suspendAndKill(running, chance);
    killed.up += times;
    if (await isSwitched(project)) killed.switched += times;
    // A successor that is killed may have begun something.
    isOver = running.process.exitCode === 0 && times === 0;
  }
  said.push(...(await Promise.all(both.map(ended))));
  expect(await wrong(project, said)).toEqual([]);
  expect(await columnsIn(project)).toEqual([
    "id",
    "text",
    "embedding_old",
    "embedding",
    "_lance_migrate_kept_embedding_old",
  ]);
  const tables = await (await lancedb.connect(project.database)).tableNames();
  expect(tables.toSorted()).toEqual(["_migrations", "docs"]);
  const verified = await project.migrate(["verify"]);
  expect(verified, verified.stderr).toMatchObject({ code: 0 });
  await changeBack(scene, killed, chance);
  if (service !== undefined) await kill(service);
  const computed = paidFor(project);
  const twice = computed.length - new Set(computed).size;
  // For each call that may be made at a time, one may be under way, and the results of another one may be on their way.
  expect(twice).toBeLessThanOrEqual((killed.prepare + killed.up) * 2 * batch * concurrency);
  return { killed, computed: computed.length, twice, said };
}

/** Rolls it back, with kills until `down` has ended. What applications write just then, a later run finds. */
async function changeBack(scene: Scene, killed: Outcome["killed"], chance: Chance): Promise<void> {
  const { project } = scene;
  const both = await Promise.all([5_000_000, 6_000_000].map((first) => startWriter(scene, first, ["both"])));
  let isOver = false;
  for (let time = 0; !isOver; time++) {
    const running = start(project, ["down", "--to", "1"]);
    if (time >= rounds(1, 3)) await running.finished;
    await Promise.race([running.finished, sleep(chance.next() * (1_500 + 1_500 * time))]);
    killed.down += await suspendAndKill(running, chance);
    isOver = running.process.exitCode === 0;
  }
  const said = await Promise.all(both.map(ended));
  expect(await project.migrate(["up", "--to", "1"], leaping())).toMatchObject({ code: 0 });
  expect(await wrong(project, said, oldVectorOf)).toEqual([]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
}

const ways = ["lance", "namespace", ...(lacks("python") ? [] : ["lance with Python" as const])] as const;

// For each commit on one of them, every night on all.
test.each(ofThisTurn(ways, ways.length))(
  `prepare, up and down are killed at ${kills} random moments or more beside writers: each vector is that of its row's text, no write is lost, and little is computed twice, on %s`,
  async (way) => {
    if (way === "lance with Python") {
      vi.stubEnv("MIGRATE_PYTHON", pythonWith(...officialPackages));
      onTestFinished(() => void vi.unstubAllEnvs());
    }
    const sum = { rounds: 0, prepare: 0, up: 0, switched: 0, down: 0, loader: 0, computed: 0, twice: 0 };
    const counts: Record<string, number> = {};
    // Of either at least one: a run may end before its moment comes.
    for (; sum.prepare + sum.up + sum.down < kills || sum.up === 0; sum.rounds++) {
      const { killed, computed, twice, said } = await changeModel(way === "namespace" ? way : "lance", sum.rounds);
      sum.prepare += killed.prepare;
      sum.up += killed.up;
      sum.switched += killed.switched;
      sum.down += killed.down;
      sum.loader += killed.loader;
      sum.computed += computed;
      sum.twice += twice;
      for (const one of said)
        for (const [what, times] of Object.entries(one.counts)) counts[what] = (counts[what] ?? 0) + times;
    }
    console.log(
      `${way}: ${sum.rounds} changes, prepare killed ${sum.prepare} times, up ${sum.up} times, ${sum.switched} of them after the switch, down ${sum.down} times, the loader ${sum.loader} times; ${sum.computed} computed, ${sum.twice} of them again; ${JSON.stringify(counts)}`,
    );
  },
);
