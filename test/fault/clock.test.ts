import { randomUUID } from "node:crypto";
/** A wall clock that is set while a run goes on: by hours, forward or back, at the holder of the lease or at one who waits. */
import { mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { ledgerRows } from "../support/ledger-rows.ts";
import { aProject, preloading, type Project } from "../support/project.ts";
import { isLong, ofThisCommit } from "../support/rounds.ts";
import { aService, apiKey } from "../support/service.ts";
import { addRows, columnsOf, rowsOf } from "../support/tables.ts";

/** Nobody has to wait for it; a run is stopped for a part of it, however slow the others are. */
const leaseSeconds = 600;
const hour = 3_600_000;
/** An odd number, so that one more or less is seen, and large enough that the holder is stopped before it has done all. */
const swaps = { embedded: 101, namespace: 21, service: 21 };

const jumping = (by: number, more: Readonly<Record<string, string>> = {}) => ({
  MIGRATE_API_KEY: apiKey,
  ...preloading("jumping-clock.ts"),
  CLOCK_JUMP: String(by),
  ...more,
});

/** A project with a table of one row, and a migration of many swaps pending. */
async function aSwapper(way: "embedded" | "namespace" | "service"): Promise<Project> {
  const project = aProject();
  const target =
    way === "embedded"
      ? { kind: "lance", uri: ".lancedb" }
      : { kind: "rest", endpoint: (await aService(project.database)).url, dialect: way };
  project.write(
    "migrate.config.ts",
    `export default { leaseSeconds: ${leaseSeconds}, targets: { here: ${JSON.stringify(target)} } };\n`,
  );
  project.migration("0001_people.ts", `m.createTable("people", { a: m.utf8(), b: m.utf8() })`);
  expect(await project.migrate(["up"], { MIGRATE_API_KEY: apiKey })).toMatchObject({ code: 0 });
  await addRows(project.database, "people", [{ a: "the first", b: "the second" }]);
  const swap = `m.alterColumns("people", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }]),\n`;
  project.migration("0002_swaps.ts", swap.repeat(swaps[way]));
  return project;
}

/** Once the process has written something that contains these words. */
function saying(words: string, { process }: ReturnType<Project["start"]>): Promise<void> {
  return new Promise((resolve) => {
    process.stdout!.on("data", (text: string) => {
      if (text.includes(words)) resolve();
    });
    process.on("close", () => resolve());
  });
}

/** What a run does with a clock is the same on each: for each commit, every second jump is tried on one of them. */
const jumps = ofThisCommit(
  [
    { who: "holder", by: 3 * hour, usual: "service" },
    { who: "holder", by: -3 * hour, usual: "embedded" },
    { who: "waiter", by: 3 * hour, usual: "embedded" },
    { who: "waiter", by: -3 * hour, usual: "namespace" },
  ] as const,
  2,
);

test.each(
  (["embedded", "namespace", "service"] as const)
    .flatMap((way) => jumps.map((jump) => ({ way, ...jump })))
    .filter(({ way, usual }) => isLong || way === usual),
)(
  "$way: the clock of the $who jumps by $by ms, no lease is stolen and nobody waits for ever",
  async ({ way, who, by }) => {
    const project = await aSwapper(way);
    const holder = project.start(["up", "--json"], jumping(by));
    await saying('"done"', holder);
    // Stopped for less than its lease, so that it still holds it while the other one's clock jumps.
    holder.process.kill("SIGSTOP");
    const waiter = project.start(["up", "--json"], jumping(by));
    await saying('"waiting"', waiter);
    (who === "holder" ? holder : waiter).process.kill("SIGUSR2");
    await pause(1_500);
    holder.process.kill("SIGCONT");
    const [held, waited] = await Promise.all([holder.finished, waiter.finished]);

    expect(held, held.stderr).toMatchObject({ code: 0 });
    expect(waited, waited.stderr).toMatchObject({ code: 0 });
    expect(waited.stdout).toContain('"waiting"');
    expect(waited.stdout).not.toContain('"takenOver"');
    expect(waited.stdout).not.toContain('"applied":1');
    expect(await rowsOf(project.database, "people")).toEqual([{ a: "the second", b: "the first" }]);
    expect((await columnsOf(project.database, "people")).map((column) => column.split(":")[0])).toEqual(["b", "a"]);

    const records = await ledgerRows(project.database);
    const takers = records.filter(({ event }) => event === "taken").map((record) => record.by);
    const released = records.filter(({ event }) => event === "released");
    // The holder may take the next epoch itself, for it can't know that it has not slept.
    expect(new Set(takers.slice(1)).size).toBe(1);
    expect(released).toHaveLength(2);
    const again = await project.migrate(["up"], { MIGRATE_API_KEY: apiKey });
    expect(again).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
  },
);

test("a run whose clock is hours ahead leaves alone the private folders in which others make tables, and not abandoned ones", async () => {
  const project = aProject();
  const now = Date.now();
  // The second was made before this machine's clock was set, or by one whose clock is behind.
  const [fresh, ofHoursAgo, abandoned] = [randomUUID(), randomUUID(), randomUUID()];
  for (const [name, age] of [
    [fresh, 0],
    [ofHoursAgo, 3 * hour],
    [abandoned, 48 * hour],
  ] as const) {
    const folder = join(project.database, ".lance-migrate", name);
    mkdirSync(folder, { recursive: true });
    utimesSync(folder, new Date(now - age), new Date(now - age));
  }
  project.migration("0001_people.ts", `m.createTable("people", { a: m.utf8() })`);
  const ahead = jumping(3 * hour, { CLOCK_JUMPS_AT_ONCE: "1" });
  expect(await project.migrate(["up"], ahead)).toMatchObject({ code: 0 });
  expect(readdirSync(join(project.database, ".lance-migrate")).toSorted()).toEqual([fresh, ofHoursAgo].toSorted());
});
