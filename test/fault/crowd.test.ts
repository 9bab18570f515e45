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

const kills = rounds(1, 3);
/** An odd number: each swaps two names. */
const migrations = rounds(5, 9);
const usual = rounds(5, 40);

/** A holder is followed by its records, which both dialects keep in the same way: for each commit one of them. */
const dialects = isLong ? (["namespace", "service"] as const) : (["namespace"] as const);

test.each(dialects)(
  "of many runs at once on one service each migration is applied by one, and a killed holder is followed, in the dialect %s",
  async (dialect) => {
    const runners = Number(process.env["MIGRATE_CROWD"] ?? usual);
    const data = temporaryFolder();
    const { url } = await serveProcess(data, ["--quiet"]);
    const project = aProject("own");
    configure(project, url, dialect);
    project.migration("0001_people.ts", `m.createTable("people", { id: m.int32(), a: m.utf8(), b: m.utf8() })`);
    const asked = performance.now();
    expect(await project.migrate(["up"], environment)).toMatchObject({ code: 0 });
    // Somebody has to wait for it, so it is as short as this machine allows. Of hundreds of runs, requests take longer.
    const leaseSeconds = runners > 50 ? 30 : Math.ceil(Math.max(5, (5 * (performance.now() - asked)) / 1000));
    configure(project, url, dialect, leaseSeconds);
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
    const released = performance.now();
    const { chance, words } = drawnChance();
    const killed = await killHolders(data, crowd, chance);
    project.write("killed", "");
    const finished = await Promise.all(crowd.map(({ running }) => running.finished));
    const took = performance.now() - released;

    const codes = new Map<string, number>();
    for (const [index, { code, stderr }] of finished.entries()) {
      const { running, impatient } = crowd[index]!;
      const wasKilled = killed.has(running.process.pid!);
      const name = wasKilled ? "killed" : String(code);
      codes.set(name, (codes.get(name) ?? 0) + 1);
      if (wasKilled) continue;
      const isBeaten = impatient || stderr.includes("(ERR_LEASE_LOST)");
      expect(isBeaten ? [0, 5] : [0], `${words}\n${stderr}`).toContain(code);
    }

    const records = await ledgerRows(data);
    const applied = records.filter(({ event }) => event === "applied").map(({ version }) => version);
    expect(applied.toSorted((one, other) => one! - other!)).toEqual(
      Array.from({ length: migrations + 1 }, (_, index) => index + 1),
    );
    expect(await rowsOf(data, "people")).toEqual([{ id: 1, a: "the second", b: "the first" }]);
    expect((await columnsOf(data, "people")).map((column) => column.split(":")[0])).toEqual(["id", "b", "a"]);
    if (dialect === "namespace") expect((await versionsOf(data))["people"]).toBe(before["people"]! + migrations);

    const left = successions(records, killed);
    console.log(
      `${runners} runs, ${dialect}: started in ${seconds(released - started)} s, ${memory}, all ended ${seconds(took)} s later; ` +
        `${[...codes].map(([code, times]) => `${code}: ${times}`).join(", ")}; ` +
        `killed holders were followed after ${left.map(({ afterKill }) => seconds(afterKill)).join(", ")} s ` +
        `(lease ${leaseSeconds} s)`,
    );
    for (const { silence } of left) expect(silence, words).toBeGreaterThanOrEqual(leaseSeconds * 1000);
    expect(left.length).toBeGreaterThanOrEqual(kills);
  },
);

const environment = { MIGRATE_API_KEY: apiKey };

/** The configuration waits until all runs have started, and the last migration until all kills have happened. */
function configure(project: Project, endpoint: string, dialect: string, leaseSeconds = 30): void {
  mkdirSync(join(project.folder, "ready"), { recursive: true });
  project.write(
    "migrate.config.ts",
    `import { existsSync, writeFileSync } from "node:fs";
     const appearance = async (file) => {
       while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 200));
     };
     if (process.env.CROWD !== undefined) {
       writeFileSync("ready/" + process.pid, "");
       await appearance("go");
     }
     export default {
       leaseSeconds: ${leaseSeconds},
       hooks: { beforeMigration: async ({ version }) => void (version > ${migrations} && (await appearance("killed"))) },
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

/** Kills holders at random moments of their work, which can't end before; gives when each was. */
async function killHolders(
  data: string,
  crowd: readonly Member[],
  chance: Chance,
): Promise<ReadonlyMap<number, number>> {
  const killed = new Map<number, number>();
  const alive = new Map(crowd.map(({ running }) => [running.process.pid!, running]));
  while (killed.size < kills) {
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
