/** Groups of migrations whose runs are killed, stopped and outlived at every call. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { isMigrateError } from "../../../../src/errors/migrate-error.ts";
import { up } from "../../../../src/commands/up.ts";
import { down } from "../../../../src/commands/down.ts";
import { resolve } from "../../../../src/commands/resolve/resolve.ts";
import { history, status } from "../../../../src/commands/status.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { groupOf } from "../../../../src/ledger/state/record.ts";
import { takeLease } from "../../../../src/ledger/lease/lease.ts";
import { firstFacts } from "../../../../src/plan/history/record-facts.ts";
import type { RunEvent } from "../../../../src/run/events.ts";
import { runContext, type MigratorOptions } from "../../../../src/run/run-context.ts";
import { aMemoryDatabase } from "../../../support/memory-database.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { sleepingClock } from "../../../support/clocks.ts";
import type { Carry } from "../../../simulate/target/carry.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { migrationsIn } from "../../../../src/migrations/source.ts";
import { isLong, rounds } from "../../../support/rounds.ts";

type Step = Readonly<Record<string, unknown>>;

const column = (name: string, nullable = true) => ({ name, type: { kind: "int32" }, nullable });
const createTable = (table: string) => ({ kind: "createTable", table, columns: [column("a"), column("b", false)] });

/** Migrations over three tables; `t` and `u` exist before any of them is pending. */
const changes = fc.array(
  fc.array(fc.record({ table: fc.constantFrom("t", "u", "v"), what: fc.nat({ max: 4 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  { minLength: 2, maxLength: 6 },
);

/** Steps that can be applied in this order. */
function stepsOf(migrations: readonly (readonly { readonly table: string; readonly what: number }[])[]) {
  const tables = new Map(["t", "u"].map((table) => [table, { a: "a", b: "int32", nullable: false, added: 0 }]));
  const stepOf = ({ table, what }: { readonly table: string; readonly what: number }): Step => {
    const now = tables.get(table);
    if (now === undefined) {
      tables.set(table, { a: "a", b: "int32", nullable: false, added: 0 });
      return createTable(table);
    }
    const isWide = now.b === "int64";
    switch (what) {
      case 0:
      case 1: {
        const path = now.a;
        now.a = path === "a" ? "c" : path === "c" ? "d" : "a";
        return { kind: "renameColumn", table, path, name: now.a };
      }
      case 2:
        now.nullable = !now.nullable;
        return { kind: "setNullable", table, path: "b", nullable: now.nullable };
      case 3:
        now.b = isWide ? "int32" : "int64";
        return { kind: "retypeColumn", table, path: "b", type: { kind: now.b } };
      default:
        return { kind: "addColumn", table, ...column(`n${now.added++}`) };
    }
  };
  return migrations.map((steps) => steps.map(stepOf));
}

/** A folder with these pending migrations, and a database in which the first one is applied. */
async function scene(pending: readonly (readonly Step[])[]) {
  const folder = temporaryFolder();
  const write = (version: number, steps: readonly Step[]) =>
    writeFileSync(
      join(folder, `${String(version).padStart(4, "0")}_m.mjs`),
      `export const up = ${JSON.stringify(steps)};\n`,
    );
  write(1, [createTable("t"), createTable("u")]);
  const database = async () => {
    const made = aMemoryDatabase(folder);
    await up(made.aProcess(), { to: 1 });
    return made;
  };
  for (const [index, steps] of pending.entries()) write(index + 2, steps);
  return { database, folder };
}

type Database = Awaited<ReturnType<Awaited<ReturnType<typeof scene>>["database"]>>;

const columnsOf = (database: Database) =>
  database
    .tables()
    .map(({ name, columns }) => [name, columns] as const)
    .toSorted();

/** How often each table was created. */
function timesMade(database: Database): readonly number[] {
  return database
    .tables()
    .map(({ effects }) => effects.flatMap(([, all]) => all.filter((one) => one.startsWith("made for"))).length);
}

async function groupsOf(database: Database): Promise<readonly (readonly number[])[]> {
  return (await history(database.aProcess())).flatMap((record) => [groupOf(record)].filter((one) => one !== undefined));
}

async function ended(options: MigratorOptions, choice = {}): Promise<string> {
  try {
    await up(options, choice);
    return "well";
  } catch (error) {
    if (isMigrateError(error)) return error.code;
    throw error;
  }
}

const lateEnds = ["well", "ERR_LEASE_LOST", "ERR_ACTED_LATE"];

const rename = (path: string, name: string, table = "t") => ({ kind: "renameColumn", table, path, name });
const four: readonly (readonly Step[])[] = [
  [rename("a", "c"), rename("a", "c", "u")],
  [rename("c", "d"), createTable("v")],
  [rename("a", "z", "v"), { kind: "setNullable", table: "v", path: "b", nullable: true }],
  [rename("c", "d", "u")],
];

test("migrations that only rename and create make one call for each table, and are recorded one by one", async () => {
  const { database } = await scene(four);
  const grouped = await database();
  await up(grouped.aProcess());
  const oneByOne = await database();
  await up(oneByOne.aProcess(), { stepByStep: true });
  expect(columnsOf(grouped)).toEqual(columnsOf(oneByOne));
  expect(await groupsOf(grouped)).toEqual([[2, 3, 4, 5]]);
  expect(await groupsOf(oneByOne)).toEqual([]);
  const { applied, pending } = await status(grouped.aProcess());
  expect([applied.map(({ version }) => version), pending]).toEqual([[1, 2, 3, 4, 5], []]);
  const effects = grouped.tables().map(({ name, effects }) => [name, Object.fromEntries(effects)]);
  expect(effects).toEqual([
    ["t", { "": ["made for time 1"], b: [], d: ["renamed to d"] }],
    ["u", { "": ["made for time 1"], b: [], d: ["renamed to d"] }],
    ["v", { "": ["made for time 1"], b: [], z: [] }],
  ]);
});

test("however often and wherever runs are killed, the next one makes the calls that are left", async () => {
  const aFate = fc.record({ at: fc.integer({ min: 1, max: 40 }), after: fc.boolean() });
  let grouped = 0;
  await fc.assert(
    fc.asyncProperty(
      changes,
      fc.array(fc.tuple(aFate, fc.option(fc.constant(2), { nil: undefined })), { maxLength: 6 }),
      fc.boolean(),
      async (given, deaths, isLastStepByStep) => {
        const { database } = await scene(stepsOf(given));
        const undisturbed = await database();
        await up(undisturbed.aProcess(), { stepByStep: true });
        const killed = await database();
        for (const [kill, to] of deaths) await up(killed.aProcess(kill), { to }).catch(() => {});
        await up(killed.aProcess(), { stepByStep: isLastStepByStep });
        grouped += (await groupsOf(killed)).length;
        expect(columnsOf(killed)).toEqual(columnsOf(undisturbed));
        expect(await status(killed.aProcess())).toMatchObject({ pending: [], holder: undefined });
        expect(timesMade(killed).every((times) => times === 1)).toBe(true);
      },
    ),
    { numRuns: rounds(30, 60) },
  );
  expect(grouped).toBeGreaterThan(20);
});

/** Two groups, and a migration between them that is part of neither. */
const twoGroups: readonly (readonly Step[])[] = [
  ...four,
  [{ kind: "retypeColumn", table: "t", path: "b", type: { kind: "int64" } }],
  [rename("d", "e", "u")],
  [rename("e", "f", "u"), rename("z", "y", "v")],
  [rename("y", "x", "v")],
];

test.each([
  { what: "one group is killed", pending: four, stops: false },
  { what: "two groups is killed", pending: twoGroups, stops: false },
  { what: "one group is stopped for longer than its lease while another does the work", pending: four, stops: true },
])("a run with $what at every call in turn does everything once", async ({ pending, stops }) => {
  const { database } = await scene(pending);
  const undisturbed = await database();
  await up(undisturbed.aProcess());
  const calls = undisturbed.calls();
  expect(calls).toBeGreaterThan(20);
  // A process that is killed before a call leaves what it leaves after the one before; one that is stopped may see more.
  const sides = isLong || stops ? [false, true] : [true];
  for (let at = 1; at <= calls; at++)
    for (const after of sides) {
      const killed = await database();
      const meanwhile = async () => {
        await killed.oversleep();
        await up(killed.aProcess());
      };
      const end = await ended(killed.aProcess({ at, after, ...(stops && { meanwhile }) })).catch(() => "killed");
      await up(killed.aProcess());
      expect({ at, after, end, columns: columnsOf(killed), made: timesMade(killed) }).toEqual({
        at,
        after,
        end: stops ? expect.toBeOneOf(lateEnds) : expect.anything(),
        columns: columnsOf(undisturbed),
        made: [1, 1, 1],
      });
    }
});

/** A process for which one call on `u` is refused. */
function refusing(options: MigratorOptions): MigratorOptions {
  const { target } = options;
  const execute: typeof target.execute = async (action, seen) => {
    if (action.table === "u") throw new Error("no space left");
    return await target.execute(action, seen);
  };
  return { ...options, target: { ...target, execute, verdict: () => ({ kind: "refused" }) } };
}

test("if one call of a group fails, the others count, and the next run makes those that are left", async () => {
  const { database } = await scene(four);
  const failed = await database();
  await expect(up(refusing(failed.aProcess()))).rejects.toMatchObject({
    code: "ERR_GROUP_FAILED",
    message: expect.stringMatching(
      /^rename u\.a to d failed: no space left; 0002_m to 0005_m run as one group, so none of them is applied; [12] of 3 calls? (is|are) made, 0 migrations applied before it in this run; fix the cause, or the steps on u in 0002_m to 0005_m, and run migrate up again$/,
    ),
  });
  const { pending, holder } = await status(failed.aProcess());
  expect([
    holder,
    pending.map(({ version, partial }) => [version, partial?.detail?.includes("no space left")]),
  ]).toEqual([
    undefined,
    [
      [2, undefined],
      [3, undefined],
      [4, undefined],
      [5, true],
    ],
  ]);
  expect(await ended(failed.aProcess())).toBe("well");
  expect(await status(failed.aProcess())).toMatchObject({ pending: [], holder: undefined });
  expect(timesMade(failed)).toEqual([1, 1, 1]);
});

test("a group of which nothing was done may run in another way next time", async () => {
  const { database } = await scene([[rename("a", "c", "u")], [rename("c", "d", "u")], [rename("d", "e", "u")]]);
  const failed = await database();
  await expect(up(refusing(failed.aProcess()))).rejects.toMatchObject({
    code: "ERR_GROUP_FAILED",
    message: expect.stringMatching(
      /or the steps on u in 0002_m to 0004_m, and run migrate up again; with --step-by-step it applies the migrations before the one that fails; nothing needs to be rolled back: migrate down would roll back 0001_m$/,
    ),
  });
  expect(await ended(failed.aProcess(), { to: 2, stepByStep: true })).toBe("well");
  expect((await status(failed.aProcess())).pending.map(({ version }) => version)).toEqual([3, 4]);
});

test("if a call of a group can never succeed, the steps that it consists of may be changed", async () => {
  const { database, folder } = await scene([...four, [rename("z", "y", "v")]]);
  const failed = await database();
  const refused = await up(refusing(failed.aProcess())).catch((error: unknown) => error);
  expect(refused).toMatchObject({ message: expect.stringContaining("the steps on u in 0002_m to 0005_m, and run") });
  writeFileSync(join(folder, "0005_m.mjs"), `export const up = ${JSON.stringify([rename("c", "e", "u")])};\n`);
  expect(await ended(failed.aProcess())).toBe("well");
  expect(columnsOf(failed)).toMatchObject([
    ["t", [{ name: "d" }, { name: "b" }]],
    ["u", [{ name: "e" }, { name: "b" }]],
    ["v", [{ name: "y" }, { name: "b" }]],
  ]);
});

test("an interrupted group stops between two calls and is resumed", async () => {
  const { database } = await scene(four);
  const stopped = await database();
  const controller = new AbortController();
  const { target, ...options } = stopped.aProcess();
  const execute: typeof target.execute = async (action, seen) => {
    controller.abort();
    return await target.execute(action, seen);
  };
  const run = up({ ...options, target: { ...target, execute }, signal: controller.signal });
  const end = await run.then(
    () => "well",
    (error: unknown) => (isMigrateError(error) ? error.message : String(error)),
  );
  // All three calls may be under way already.
  if (end !== "well")
    expect(end).toMatch(/^interrupted; 0 migrations were applied, [123] of 3 calls for 0002_m to 0005_m were made; /);
  expect(await ended(stopped.aProcess())).toBe("well");
  expect(await status(stopped.aProcess())).toMatchObject({ pending: [], holder: undefined });
});

/** A run that is killed after its first call of the group. `from`: none of its calls before this one is that call. */
async function halfDone(
  pending = four,
  from = 1,
): Promise<Database & { readonly folder: string; readonly at: number }> {
  const { database, folder } = await scene(pending);
  const whole = await database();
  await up(whole.aProcess());
  for (let at = from; at <= whole.calls(); at++) {
    const killed = await database();
    await up(killed.aProcess({ at, after: true })).catch(() => {});
    const made = columnsOf(killed).filter(
      (table, index) => JSON.stringify(table) === JSON.stringify(columnsOf(whole)[index]),
    );
    if (made.length > 0 && made.length < columnsOf(whole).length) return { ...killed, folder, at };
  }
  throw new Error("no run was killed within the group");
}

test("a group that has begun is finished as a group, also by a run that goes step by step", async () => {
  const killed = await halfDone();
  await killed.oversleep();
  expect(await ended(killed.aProcess(), { stepByStep: true })).toBe("well");
  expect(await status(killed.aProcess())).toMatchObject({ pending: [], holder: undefined });
});

test("no run stops in the middle of a group that has begun, and none rolls back before it is finished", async () => {
  const killed = await halfDone();
  await killed.oversleep();
  const events: string[] = [];
  const refused = () => ({ ...killed.aProcess(), emit: ({ event }: RunEvent) => void events.push(event) });
  await expect(up(refused(), { to: 3 })).rejects.toMatchObject({
    code: "ERR_BEGUN",
    message:
      "the group 0002 to 0005 was begun but not finished, so it must be finished first; leave out --to, or go up to 0005",
  });
  await expect(down(refused())).rejects.toMatchObject({
    code: "ERR_UNSETTLED",
    message:
      "the group 0002 to 0005 may have run further than is recorded; run migrate up first, which finds out and resumes it",
  });
  // Neither takes over.
  expect(events).toEqual(["waiting", "waiting"]);
  await up(refused(), { to: 5 });
  expect(events.slice(2, 5)).toEqual(["waiting", "takenOver", "taking"]);
});

test("a run that is overtaken before it states its group leaves nothing in doubt that the other did not run", async () => {
  const add = { kind: "addColumn", table: "v", ...column("k") };
  const { database } = await scene([
    [createTable("v"), rename("a", "c")],
    [{ kind: "retypeColumn", table: "v", path: "b", type: { kind: "int64" } }, rename("c", "d"), add],
  ]);
  const undisturbed = await database();
  await up(undisturbed.aProcess());
  for (let at = 1; at <= undisturbed.calls(); at++)
    for (const after of [false, true]) {
      const overtaken = await database();
      const meanwhile = async () => {
        await overtaken.oversleep();
        await ended(overtaken.aProcess(), { to: 2 });
      };
      const end = await ended(overtaken.aProcess({ at, after, meanwhile }));
      const again = await ended(overtaken.aProcess());
      expect({ at, after, end, again, columns: columnsOf(overtaken) }).toEqual({
        at,
        after,
        end: expect.toBeOneOf(lateEnds),
        again: "well",
        columns: columnsOf(undisturbed),
      });
    }
});

test("both late calls of a group are found", async () => {
  const loose = (table: string, nullable: boolean) => ({ kind: "setNullable", table, path: "b", nullable });
  const folder = temporaryFolder();
  const write = (version: number, steps: readonly Step[]) =>
    writeFileSync(join(folder, `000${version}_m.mjs`), `export const up = ${JSON.stringify(steps)};\n`);
  const clock = sleepingClock();
  const tables = memoryTables({ now: clock.wall });
  const process = (carry?: Carry): MigratorOptions => ({
    target: memoryTarget({
      name: "test",
      model: "namespace",
      tables,
      carry: carry ?? (async ({ arrive }) => arrive()()),
      clock,
    }),
    migrations: migrationsIn(folder),
    ledger: "_migrations",
    clock,
    lease: { duration: 30_000, patience: 600_000 },
  });
  write(1, [createTable("t"), createTable("u")]);
  await up(process());
  write(2, [loose("t", true), loose("u", true), rename("a", "c"), rename("a", "c", "u")]);
  write(3, [rename("c", "a"), rename("c", "a", "u")]);
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let held = 0;
  const late = up(
    process(async ({ arrive, action }) => {
      if (action?.kind === "alterColumns" && held < 2) {
        if (++held === 2) arrived.resolve();
        await gate.promise;
      }
      return arrive()();
    }),
  );
  await arrived.promise;
  await clock.sleep(60_000);
  write(4, [loose("t", false), loose("u", false)]);
  await up(process());
  gate.resolve();
  await expect(late).rejects.toMatchObject({ code: "ERR_ACTED_LATE" });
  for (const table of ["t", "u"]) {
    await expect(up(process())).rejects.toMatchObject({ code: "ERR_DRIFT", details: { table } });
    tables.carryOut({ kind: "alterColumns", table, alterations: [{ path: "b", nullable: false }] });
  }
  expect(await ended(process())).toBe("well");
  expect((await status(process())).late).toEqual([]);
});

test("if the file of a member is lost, it is marked as reverted, and the group continues without it", async () => {
  const killed = await halfDone([...four, [createTable("w")]]);
  rmSync(join(killed.folder, "0006_m.mjs"));
  await killed.oversleep();
  expect(await ended(killed.aProcess())).toBe("ERR_BEGUN");
  expect(await resolve(killed.aProcess(), { reverted: "6", yes: true })).toMatchObject({ done: true });
  expect(await ended(killed.aProcess())).toBe("well");
  expect(await status(killed.aProcess())).toMatchObject({ pending: [], begun: [], holder: undefined });
  expect((await groupsOf(killed)).slice(-2)).toEqual([
    [2, 3, 4, 5],
    [2, 3, 4, 5],
  ]);
});

/** Carries out the first step of a migration, and records that it is half-done. */
async function leaveHalfDone(options: MigratorOptions, number: number, step: Step): Promise<void> {
  const { journal, target, migrations, runner, clock, lease: terms } = runContext(options);
  await target.execute(step as never, undefined);
  const migration = await migrations.load(migrations.list().find(({ version }) => version === number)!);
  const facts = firstFacts(migration, migration.steps.slice(0, 1), { step: 1, total: 2 }, undefined);
  const lease = await takeLease(journal, foldLedger(await journal.read()), runner, undefined, { ...terms, clock });
  await lease!.release([{ event: "interrupted", ...facts }]);
}

test("a group in doubt stays in doubt while a half-done migration before it runs first", async () => {
  const { at: first } = await halfDone();
  const killedTwice = async (at: number) => {
    const killed = await halfDone(four, first);
    await killed.oversleep();
    const steps = [createTable("w"), rename("a", "c", "w")];
    writeFileSync(join(killed.folder, "0000_m.mjs"), `export const up = ${JSON.stringify(steps)};\n`);
    await leaveHalfDone(killed.aProcess(), 0, steps[0]!);
    const end = await ended(killed.aProcess({ at, after: true })).catch(() => "killed");
    const calls = killed.calls();
    await killed.oversleep();
    const again = await ended(killed.aProcess());
    return { end, calls, left: { again, columns: columnsOf(killed), made: timesMade(killed) } };
  };
  const undisturbed = await killedTwice(Infinity);
  expect(undisturbed).toMatchObject({ end: "well", left: { again: "well", made: [1, 1, 1, 1] } });
  for (let at = 1; at <= undisturbed.calls; at += rounds(2, 1))
    expect({ at, ...(await killedTwice(at)).left }).toEqual({ at, ...undisturbed.left });
});
