/**
 * Many runs at once, each a process, against one `migrate serve`; some are killed while they hold the lease. MIGRATE_CROWD
 * says how many runs there are.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Chance } from "../simulate/seeded-random.ts";
import { drawnChance } from "../support/kill-moments.ts";
import { holderOf, ledgerRows, type LedgerRow } from "../support/ledger-rows.ts";
import { aProject, temporaryFolder, type Project, type Running } from "../support/project.ts";
import { isLong, rounds } from "../support/rounds.ts";
import { serveProcess } from "../support/serve.ts";
import { apiKey } from "../support/service.ts";
import { addRows, columnsOf, rowsOf, versionsOf } from "../support/tables.ts";

/** Requests of hundreds of runs take longer than a short lease: with those it is the default, 30 s. */
const leaseSeconds = Number(process.env["MIGRATE_CROWD"] ?? 0) > 50 ? 30 : 5;
const kills = rounds(1, 3);
/** An odd number: each swaps two names. */
const migrations = rounds(5, 9);
const usual = rounds(5, 40);

/** A holder is followed by its records, which both dialects keep in the same way: for each commit one of them. */
const dialects = isLong ? (["namespace", "service"] as const) : (["namespace"] as const);

test.each(dialects)(
  "of many runs at once on one service each migration is applied by one, and a killed holder is followed in time, in the dialect %s",
  async (dialect) => {
    const runners = Number(process.env["MIGRATE_CROWD"] ?? usual);
    const data = temporaryFolder();
    const { url } = await serveProcess(data, ["--quiet"]);
    const project = aProject("own");
    configure(project, url, dialect);
    project.migration("0001_people.ts", `m.createTable("people", { id: m.int32(), a: m.utf8(), b: m.utf8() })`);
    expect(await project.migrate(["up"], environment)).toMatchObject({ code: 0 });
    await addRows(data, "people", [{ id: 1, a: "the first", b: "the second" }]);
    const before = await versionsOf(data);
    for (let version = 2; version <= migrations + 1; version++)
      project.migration(
        `${String(version).padStart(4, "0")}_swap.ts`,
        `m.alterColumns("people", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }])`,
      );

    const started = performance.now();
    const crowd = await gather(project, runners);
    const memory = memoryOf(crowd);
    project.write("go", "");
    const probe = probing(url);
    const released = performance.now();
    const { chance, words } = drawnChance();
    const killed = await killHolders(data, crowd, chance);
    const finished = await Promise.all(crowd.map(({ running }) => running.finished));
    const took = performance.now() - released;
    const slowest = await probe();

    const codes = new Map<string, number>();
    for (const [index, { code, stderr }] of finished.entries()) {
      const { running, impatient } = crowd[index]!;
      const wasKilled = killed.has(running.process.pid!);
      const name = wasKilled ? "killed" : String(code);
      codes.set(name, (codes.get(name) ?? 0) + 1);
      if (wasKilled) continue;
      expect(impatient ? [0, 5] : [0], `${words}\n${stderr}`).toContain(code);
    }

    const records = await ledgerRows(data);
    const applied = records.filter(({ event }) => event === "applied").map(({ version }) => version);
    expect(applied.toSorted((one, other) => one! - other!)).toEqual(
      Array.from({ length: migrations + 1 }, (_, index) => index + 1),
    );
    expect(await rowsOf(data, "people")).toEqual([{ id: 1, a: "the second", b: "the first" }]);
    expect((await columnsOf(data, "people")).map((column) => column.split(":")[0])).toEqual(["id", "b", "a"]);
    if (dialect === "namespace") expect((await versionsOf(data))["people"]).toBe(before["people"]! + migrations);

    // The last question, what is read and looked at before the lease is asked for, and the pause before it.
    const bound = 5_000 + 10 * slowest;
    const left = successions(records, killed);
    console.log(
      `${runners} runs, ${dialect}: started in ${seconds(released - started)} s, ${memory}, all ended ${seconds(took)} s later; ` +
        `${[...codes].map(([code, times]) => `${code}: ${times}`).join(", ")}; ` +
        `killed holders were followed after ${left.map(({ afterKill }) => seconds(afterKill)).join(", ")} s ` +
        `(lease ${leaseSeconds} s; the slowest of the requests that were timed took ${seconds(slowest)} s)`,
    );
    for (const { silence, afterKill } of left) {
      expect(silence, words).toBeGreaterThanOrEqual(leaseSeconds * 1000);
      expect(afterKill, words).toBeLessThanOrEqual(leaseSeconds * 1000 + bound);
    }
    expect(left.length).toBeGreaterThan(0);
  },
);

const environment = { MIGRATE_API_KEY: apiKey };

/** The configuration waits until everybody is there. */
function configure(project: Project, endpoint: string, dialect: string): void {
  mkdirSync(join(project.folder, "ready"));
  project.write(
    "migrate.config.ts",
    `import { existsSync, writeFileSync } from "node:fs";
     if (process.env.CROWD !== undefined) {
       writeFileSync("ready/" + process.pid, "");
       while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 200));
     }
     export default {
       leaseSeconds: ${leaseSeconds},
       targets: { here: { kind: "rest", endpoint: ${JSON.stringify(endpoint)}, dialect: "${dialect}" } },
     };\n`,
  );
}

interface Member {
  readonly running: Running;
  /** With a short --wait. */
  readonly impatient: boolean;
}

/** Starts the runs a few at a time; resolves when all of them are alive. */
async function gather(project: Project, runners: number): Promise<readonly Member[]> {
  const crowd: Member[] = [];
  const ready = () => readdirSync(join(project.folder, "ready")).length;
  while (crowd.length < runners) {
    const impatient = crowd.length % 4 === 0;
    const args = ["up", "--step-by-step", ...(impatient ? ["--wait", "1"] : [])];
    crowd.push({ running: project.start(args, { ...environment, CROWD: "1" }), impatient });
    while (crowd.length - ready() > 4) await pause(20);
  }
  while (ready() < runners) await pause(20);
  expect(crowd.every(({ running: { process } }) => process.exitCode === null)).toBe(true);
  return crowd;
}

/** Kills holders at random moments of their work; gives when each was. */
async function killHolders(
  data: string,
  crowd: readonly Member[],
  chance: Chance,
): Promise<ReadonlyMap<number, number>> {
  const killed = new Map<number, number>();
  const alive = new Map(crowd.map(({ running }) => [running.process.pid!, running]));
  const working = () =>
    crowd.some(({ running: { process } }) => process.exitCode === null && process.signalCode === null);
  while (killed.size < kills && working()) {
    const holder = await holderOf(data);
    const victim = holder === undefined || killed.has(holder.pid) ? undefined : alive.get(holder.pid);
    if (victim === undefined) {
      await pause(50);
      continue;
    }
    await pause(150 * chance.next());
    if (victim.process.exitCode === null && victim.process.kill("SIGKILL")) killed.set(holder!.pid, Date.now());
  }
  return killed;
}

/** For each epoch whose holder was killed: how long nothing was written, and when the next one took over after the kill. */
function successions(records: readonly LedgerRow[], killed: ReadonlyMap<number, number>) {
  return records.flatMap(({ epoch, event, at, by }) => {
    if (event !== "taken") return [];
    const previous = records.filter((record) => record.epoch === epoch - 1);
    const last = previous.at(-1);
    const pid = Number(/\(process (\d+)\)/.exec(previous[0]?.by ?? "")?.[1]);
    const death = killed.get(pid);
    if (last === undefined || last.event === "released" || death === undefined) return [];
    return [{ by, silence: at - last.at, afterKill: at - death }];
  });
}

/** Asks the service for its tables again and again; gives the longest time in milliseconds that an answer took. */
function probing(url: string): () => Promise<number> {
  const told = new AbortController();
  const going = (async () => {
    let slowest = 0;
    while (!told.signal.aborted) {
      const asked = performance.now();
      const answer = await fetch(`${url}/v1/table/people/describe`, {
        method: "POST",
        headers: { "x-api-key": apiKey },
      });
      await answer.text();
      slowest = Math.max(slowest, performance.now() - asked);
      await pause(500);
    }
    return slowest;
  })();
  return async () => {
    told.abort();
    return await going;
  };
}

/** What all the processes take together, with what they share counted once. */
function memoryOf(crowd: readonly Member[]): string {
  const sum = (field: string) =>
    crowd.reduce((total, { running }) => {
      const file = `/proc/${running.process.pid}/smaps_rollup`;
      const found = existsSync(file) ? new RegExp(`^${field}: +(\\d+) kB`, "m").exec(readFileSync(file, "utf8")) : null;
      return total + Number(found?.[1] ?? 0) / 2 ** 20;
    }, 0);
  return `${sum("Pss").toFixed(1)} GB together (${((sum("Rss") * 1024) / crowd.length).toFixed(0)} MB each by itself)`;
}

const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
