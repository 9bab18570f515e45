/** Repairs that are killed, that race, and that meet others, on the real engine. */
import { cpSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MigrateError } from "../../../../../src/errors/migrate-error.ts";
import { foldLedger } from "../../../../../src/ledger/state/fold.ts";
import { groupInDoubt, migrationsInDoubt } from "../../../../../src/ledger/state/ledger-state.ts";
import { journalOf } from "../../../../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../../../../src/ledger/lease/lease.ts";
import { repeatedFacts } from "../../../../../src/plan/history/record-facts.ts";
import { up as upAs } from "../../../../../src/commands/up.ts";
import { history, status } from "../../../../../src/commands/status.ts";
import type { MigratorOptions } from "../../../../../src/run/run-context.ts";
import { repair } from "../../../../../src/features/repair/repair/repair.ts";
import { verifyLedger, verifyTables } from "../../../../../src/commands/verify/verify.ts";
import { open as openLance } from "../../../../../src/targets/lance/lance.ts";
import { open as openRest } from "../../../../../src/features/rest/rest.ts";
import type { Target } from "../../../../../src/targets/contract/target.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { commits, isLong, ofThisCommit, rounds } from "../../../../support/rounds.ts";
import { aService, apiKey } from "../../../../support/service.ts";
import { lancedb } from "../../../../support/tables.ts";
import {
  killed,
  killedAfterChange,
  leapingClock,
  optionsFor,
  watched,
  writeMigrations,
  type Watch,
} from "../../../../support/watched.ts";

/** A run with a position after each step, where a repair may find it. */
const up = async (options: MigratorOptions, choice = {}) => await upAs(options, { stepByStep: true, ...choice });

const column = (name: string) => ({ name, type: { kind: "int32" }, nullable: true });
const rename = (table: string, path: string, name: string) => ({ kind: "renameColumn", table, path, name });
const migrations = [
  [{ kind: "createTable", table: "t", columns: [column("a"), column("b")] }],
  [{ kind: "createTable", table: "u", columns: [column("a")] }, rename("t", "a", "c")],
  [rename("u", "a", "d")],
];

/** A database in a folder, and a program that works on it. */
interface World {
  readonly data: string;
  /** Where its migrations are. */
  readonly folder: string;
  process(watch?: Watch): Promise<MigratorOptions>;
}

async function aFolder(from?: World): Promise<World> {
  const [folder, clock] = [temporaryFolder(), leapingClock()];
  const data = join(folder, "data");
  if (from !== undefined) cpSync(from.data, data, { recursive: true });
  writeMigrations(folder, migrations);
  return {
    data,
    folder,
    async process(watch = {}) {
      const target = await openLance({ kind: "lance", uri: "data" }, { name: "test", folder });
      return optionsFor(folder, watched(target, watch), clock);
    },
  };
}

async function aServedFolder(from?: World): Promise<World> {
  const [folder, clock, served] = [temporaryFolder(), leapingClock(), temporaryFolder()];
  if (from !== undefined) cpSync(from.data, served, { recursive: true });
  const { url, data } = await aService(served);
  writeMigrations(folder, migrations);
  return {
    data,
    folder,
    async process(watch = {}) {
      const target = await openRest(
        { kind: "rest", endpoint: url, apiKey, dialect: "service" },
        { name: "test", folder },
      );
      return optionsFor(folder, watched(target, watch), clock);
    },
  };
}

/** All is applied, the ledger says so quickly and without a fault, and the tables are as they should. */
async function expectWell(world: World): Promise<void> {
  const { pending, applied } = await status(await world.process());
  expect({ pending, applied: applied.map(({ version }) => version) }).toEqual({ pending: [], applied: [1, 2, 3] });
  expect(await verifyTables(await world.process())).toMatchObject({ differences: [] });
  expect((await verifyLedger(await world.process())).findings.filter(({ known }) => !known)).toEqual([]);
  const calls: string[] = [];
  await up(await world.process({ before: (_, what) => calls.push(what) }));
  // A ledger that records a late call is read as a whole.
  if ((await history(await world.process())).some(({ event }) => event === "late")) return;
  // The end of the ledger, and whether any call came late.
  expect(new Set(calls).size).toBe(1);
  expect(calls[0]).toMatch(/^(head|list)$/);
}

const table = async ({ data }: World, name: string) => await (await lancedb.connect(data)).openTable(name);

/** What befalls a database in which all is applied. */
const harms: readonly { readonly what: string; readonly harm: (world: World) => Promise<void> }[] = [
  {
    what: "lost its ledger",
    harm: async ({ data }) => await (await lancedb.connect(data)).dropTable("_migrations"),
  },
  {
    what: "lost its ledger in the middle of a migration",
    async harm(world) {
      const t = await table(world, "t");
      await t.alterColumns([{ path: "c", rename: "a" }]);
      await (await table(world, "u")).alterColumns([{ path: "d", rename: "a" }]);
      await (await lancedb.connect(world.data)).dropTable("_migrations");
    },
  },
  {
    what: "had its tables put back",
    async harm(world) {
      const u = await table(world, "u");
      await u.checkout((await u.version()) - 1);
      await u.restore();
    },
  },
  {
    what: "lost a record of its ledger",
    harm: async (world) => void (await (await table(world, "_migrations")).delete("event = 'applied' AND version = 2")),
  },
];

/** Every night before and after every call. For each commit once for each state that a killed process can leave. */
const killedAt: readonly ((at: number) => Watch)[] = isLong
  ? [false, true].map((after) => (at) => killed(at, after))
  : [killedAfterChange];

/** For each commit every third of these states, for the next commit others. */
const placesOf = (turn: number) =>
  isLong ? { first: 1, stride: 1 } : { first: 1 + ((turn + commits()) % 3), stride: 3 };

test.each(harms)("a repair of what $what is killed anywhere, and repair and up do the rest", async ({ what, harm }) => {
  const { first, stride } = placesOf(harms.findIndex((one) => one.what === what));
  const harmed = await aFolder();
  await up(await harmed.process());
  await harm(harmed);
  for (let at = first, ended = false; !ended; at += stride)
    for (const kill of killedAt) {
      const world = await aFolder(harmed);
      const end = await repair(await world.process(kill(at)), { yes: true }).catch((error: unknown) => error);
      ended = !(end instanceof Error);
      // Nobody has lost anything: what is recorded at that point is true.
      const { applied } = await status(await world.process());
      expect(applied.map(({ version }) => version).join()).toMatch(/^(1(,2)?(,3)?|1,3)?$/);
      expect(await repair(await world.process(), { yes: true })).toMatchObject({ refusal: undefined });
      await up(await world.process());
      await expectWell(world);
    }
});

/** What damages a ledger so that its records and their chain do not show it. */
const quietHarms: readonly {
  readonly what: string;
  readonly harm: (world: World) => Promise<void>;
  readonly sees: string;
}[] = [
  {
    what: "turns to a migration that there is no file of",
    async harm(world) {
      const records = await table(world, "_migrations");
      await records.update({ where: "event = 'released'", values: { next: "9" } });
    },
    sees: "0009 was begun but not finished",
  },
  {
    what: "says of the last migration alone that it ran",
    async harm(world) {
      const { migrations: known } = foldLedger(await journalOf((await world.process()).target, "_migrations").read());
      await (await lancedb.connect(world.data)).dropTable("_migrations");
      const { target, lease, clock } = await world.process();
      const ann = { by: "ann", run: "run a", tool: "test" };
      const terms = { ...lease, clock: clock! };
      const held = await takeLease(journalOf(target, "_migrations"), foldLedger([]), ann, undefined, terms);
      await held!.release([{ event: "applied", ...repeatedFacts(known.get(3)!) }]);
    },
    sees: "no migration before this creates a table u",
  },
  {
    what: "has another checksum in its newest record",
    async harm(world) {
      const records = await table(world, "_migrations");
      await records.delete("event = 'released'");
      await records.update({ where: "event = 'applied' AND version = 3", values: { checksum: "x" } });
    },
    sees: "lists the steps that 0003_m.mjs has",
  },
];

test.each(quietHarms)("a ledger that $what is rebuilt from the tables", async ({ harm, sees }) => {
  const world = await aFolder();
  await up(await world.process());
  await harm(world);
  const explained = await repair(await world.process());
  expect(explained.sees.join("\n")).toContain(sees);
  expect(explained).toMatchObject({ does: "rebuild", words: expect.stringContaining("after 0003_m") });
  expect(await repair(await world.process(), { yes: true })).toMatchObject({ done: true });
  await expectWell(world);
});

test.each([
  [".advanced.", 0],
  [".applied.0002", 1],
] as const)(
  "a repair of markers, where %s is gone, is killed anywhere, and repair and up do the rest",
  async (gone, turn) => {
    const { first, stride } = placesOf(turn);
    const harmed = await aServedFolder();
    await up(await harmed.process());
    const db = await lancedb.connect(harmed.data);
    const marker = (await db.tableNames()).find((name) => name.includes(gone))!;
    await db.dropTable(marker);
    for (let at = first, ended = false; !ended; at += stride)
      for (const kill of killedAt) {
        const world = await aServedFolder(harmed);
        const end = await repair(await world.process(kill(at)), { yes: true }).catch((error: unknown) => error);
        ended = !(end instanceof Error);
        expect(await repair(await world.process(), { yes: true })).toMatchObject({ refusal: undefined });
        await up(await world.process());
        await expectWell(world);
      }
  },
);

test("a run that is killed while it notes new texts of files is no contradiction in its ledger", async () => {
  const { first, stride } = placesOf(2);
  for (let at = first, ended = false; !ended; at += stride) {
    const world = await aServedFolder();
    await up(await world.process());
    writeMigrations(world.folder, [...migrations, [rename("u", "d", "e")]], "// reformatted\n");
    const end = await up(await world.process(killedAfterChange(at))).catch((error: unknown) => error);
    ended = !(end instanceof Error);
    expect(await status(await world.process())).toMatchObject({ problem: undefined });
    await up(await world.process());
  }
});

test.each([
  { gone: ["2"], named: ["0002_m"] },
  { gone: ["1", "2", "3"], named: ["0001_m", "0002_m", "0003_m"] },
])("markers of what was applied, $gone, that are gone are made good by the running hash", async ({ gone, named }) => {
  const world = await aServedFolder();
  await up(await world.process());
  await dropApplied(world, gone);
  const explained = await repair(await world.process());
  for (const name of named)
    expect(explained.sees).toContain(
      `no record states any more that ${name} is applied, but the running hash of later ones does`,
    );
  expect(explained.words).toContain("3 applied migrations");
  expect(await repair(await world.process(), { yes: true })).toMatchObject({ done: true });
  await expectWell(world);
});

test("a file that was reformatted since is known by its text as the ledger has it", async () => {
  const world = await aServedFolder();
  await up(await world.process());
  await dropApplied(world, ["3"]);
  const [first, second] = migrations;
  writeMigrations(world.folder, [first!, second!], "// reformatted\n");
  expect(await repair(await world.process(), { yes: true })).toMatchObject({ done: true });
  expect(await status(await world.process())).toMatchObject({ pending: [], problem: undefined });
});

test.each([
  { what: "when it can't be", gone: ["1"], says: "no migration before this creates a table t" },
  { what: "when its hash fits no number of files", gone: ["3"], says: "and not that the first files are; bring its" },
])("what is left of a ledger of markers is not rewritten $what", async ({ gone, says }) => {
  const world = await aServedFolder();
  await up(await world.process());
  await dropApplied(world, gone);
  // What a hash says of these texts nobody knows any more.
  writeMigrations(world.folder, migrations, "// reformatted\n");
  const db = await lancedb.connect(world.data);
  const before = (await db.tableNames()).toSorted();
  expect(await repair(await world.process(), { yes: true })).toMatchObject({
    does: "refused",
    refusal: { code: "ERR_REPAIR_BLIND", message: expect.stringContaining(says) },
  });
  expect((await db.tableNames()).toSorted()).toEqual(before);
});

test("a migration whose hash fits no file any more is not forgotten because older hashes fit (markers)", async () => {
  const world = await aServedFolder();
  for (const to of [1, 2, 3]) await up(await world.process(), { to });
  await dropApplied(world, ["2", "3"]);
  const last = JSON.stringify(migrations[2]);
  writeFileSync(join(world.folder, "0003_m.mjs"), `// reformatted\nexport const up = ${last};\n`);
  expect(await repair(await world.process(), { yes: true })).toMatchObject({ does: "refused", done: false });
});

test("a migration that ran out of order is not forgotten because older hashes fit (markers)", async () => {
  const world = await aServedFolder();
  const third = join(world.folder, "0003_m.mjs");
  renameSync(third, join(world.folder, "0004_m.mjs"));
  for (const to of [1, 2, 4]) await up(await world.process(), { to });
  writeFileSync(third, `export const up = ${JSON.stringify([rename("t", "b", "e")])};\n`);
  await dropApplied(world, ["2", "4"]);
  expect(await repair(await world.process(), { yes: true })).toMatchObject({ does: "refused", done: false });
});

/** Markers that say of these migrations that they are applied. */
async function dropApplied({ data }: World, versions: readonly string[]): Promise<void> {
  const db = await lancedb.connect(data);
  for (const name of await db.tableNames())
    if (versions.some((version) => name.includes(`.applied.000${version}_`))) await db.dropTable(name);
}

test("of two repairs at once one repairs, and the other finds nothing to do", async () => {
  for (const { harm } of ofThisCommit(harms, 2)) {
    const world = await aFolder();
    await up(await world.process());
    await harm(world);
    const ends = await Promise.all([1, 2].map(async () => await repair(await world.process(), { yes: true })));
    expect(ends.map(({ done }) => done).toSorted()).toEqual([false, true]);
    await up(await world.process());
    await expectWell(world);
  }
});

/** Every night before each call; for each commit before every fourth, which are calls of all kinds. */
const stride = rounds(4, 1);

test("a repair that another finishes first, between any two of its calls, does nothing more", async () => {
  const harmed = await aFolder();
  await up(await harmed.process());
  await harms[0]!.harm(harmed);
  for (let at = 1, met = true; met; at += stride) {
    const world = await aFolder(harmed);
    met = false;
    const before = async (call: number) => {
      if (call !== at) return;
      met = true;
      // While we hold the lease it waits for a whole one, and takes over.
      await repair(await world.process(), { yes: true });
    };
    await repair(await world.process({ before }), { yes: true }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "ERR_LEASE_LOST" });
    });
    await up(await world.process());
    await expectWell(world);
  }
});

test.each([
  { what: "needs what was taken away", where: "event = 'applied' AND version = 1", gone: true },
  { what: "applies what is pending", where: "event = 'taken'", gone: false },
])("beside a run that $what a repair ends well, wherever they meet", async ({ where, gone }) => {
  const harmed = await aFolder();
  await up(await harmed.process(), { to: 2 });
  const records = await table(harmed, "_migrations");
  await (gone ? records.delete(where) : records.update({ where, values: { by: "nobody" } }));
  for (let at = 1, met = true; met; at += stride) {
    const world = await aFolder(harmed);
    met = false;
    const before = async (call: number) => {
      if (call !== at) return;
      met = true;
      await repair(await world.process(), { yes: true });
    };
    // It is refused, or taken over from, or goes on with what was repaired.
    await up(await world.process({ before })).catch((error: unknown) => {
      expect((error as { readonly code: string }).code).toMatch(
        /^ERR_(LEASE_LOST|ACTED_LATE|LEDGER_CHANGED|OUT_OF_ORDER|DRIFT|STEP_IMPOSSIBLE|TABLE_)/,
      );
    });
    await repair(await world.process(), { yes: true });
    await up(await world.process());
    await expectWell(world);
  }
});

test.each([
  { stepByStep: true, doubt: [2], group: [] },
  { stepByStep: false, doubt: [2, 3], group: [2, 3] },
])("what a killed run left in doubt stays in doubt when the ledger is rebuilt (%j)", async (given) => {
  const { stepByStep, doubt, group } = given;
  const world = await aFolder();
  await up(await world.process(), { to: 1 });
  const dying = await world.process({
    before: (_, what) => {
      if (what === "execute") throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "killed" });
    },
  });
  await up({ ...dying, target: { ...dying.target, verdict: () => ({ kind: "unanswered" }) } }, { stepByStep }).catch(
    () => {},
  );
  await (await table(world, "_migrations")).delete("event = 'applied' AND version = 1");
  const { target } = await world.process();
  const inDoubt = async () => {
    const state = foldLedger(await journalOf(target, "_migrations").read());
    return [migrationsInDoubt(state, "another run"), groupInDoubt(state, "another run")];
  };
  const expected = [new Set(doubt), new Set(group)];
  expect(await inDoubt()).toEqual(expected);
  expect(await repair(await world.process(), { yes: true })).toMatchObject({ done: true });
  expect(await inDoubt()).toEqual(expected);
  await up(await world.process());
  await expectWell(world);
});

test("a holder that is at work is waited for, and then it is said that it holds the lease", async () => {
  const world = await aFolder();
  await up(await world.process());
  await harms[2]!.harm(world);
  const options = await world.process();
  const { target, ledger, lease, clock } = options;
  const journal = journalOf(target, ledger);
  const bob = { by: "bob", run: "run b", tool: "test" };
  const held = await takeLease(journal, foldLedger(await journal.read()), bob, undefined, { ...lease, clock: clock! });
  const explained = await repair(options);
  expect(explained.sees[0]).toMatch(
    /^bob holds the lease, last heard of \d+ seconds? ago by this clock; once it is silent for a whole lease, the next run that has something to do takes over$/,
  );
  const busy = {
    ...clock!,
    sleep: async (ms: number) => {
      await clock!.sleep(ms);
      await held!.record([{ event: "renewed" }]);
    },
  };
  const impatient = { ...options, clock: busy, lease: { ...lease, patience: 5_000 } };
  await expect(repair(impatient, { yes: true })).rejects.toMatchObject({ code: "ERR_LEASE_HELD", outcome: "locked" });
  await held!.release();
  expect(await repair(await world.process(), { yes: true })).toMatchObject({ done: true });
});

test("a run that was killed, and what it left in doubt, is said and left to the next up", async () => {
  const world = await aFolder();
  await up(await world.process(), { to: 1 });
  const before = (_: number, what: string) => {
    if (what === "execute") throw new Error("killed");
  };
  const lost: Target["verdict"] = () => ({ kind: "refused" });
  const dying = await world.process({ before });
  await up({ ...dying, target: { ...dying.target, verdict: lost } }).catch(() => {});
  const { sees, does } = await repair(await world.process());
  expect({ sees, does }).toEqual({
    sees: [expect.stringMatching(/^0002_m has 0 of 2 actions done; the next migrate up resumes it$/)],
    does: "nothing",
  });
  await up(await world.process());
  await expectWell(world);
});
