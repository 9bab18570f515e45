/** Groups of migrations whose runs are killed, stopped and outlived at every call. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import { isMigrateError, MigrateError } from "../../../../src/errors/migrate-error.ts";
import { up } from "../../../../src/commands/up.ts";
import { down } from "../../../../src/commands/down.ts";
import { resolve } from "../../../../src/features/repair/resolve/resolve.ts";
import { savePlan } from "../../../../src/commands/plan.ts";
import { history, status } from "../../../../src/commands/status.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { groupOf } from "../../../../src/ledger/state/record.ts";
import { takeLease } from "../../../../src/ledger/lease/lease.ts";
import { firstFacts } from "../../../../src/plan/history/record-facts.ts";
import type { RunEvent } from "../../../../src/run/events.ts";
import { runContext, type MigratorOptions } from "../../../../src/run/run-context.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { aMemoryDatabase } from "../../../support/memory-database.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { sleepingClock } from "../../../support/clocks.ts";
import type { Carry } from "../../../simulate/target/carry.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { migrationsIn } from "../../../../src/migrations/source.ts";
import { commits, isLong, rounds } from "../../../support/rounds.ts";

type Step = Readonly<Record<string, unknown>>;

const column = (name: string, nullable = true) => ({ name, type: { kind: "int32" }, nullable });
const createTable = (table: string) => ({ kind: "createTable", table, columns: [column("a"), column("b", false)] });

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

/** For each commit every second call, for the next commit the others. */
const stride = rounds(2, 1);
const first = 1 + (commits() % stride);

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
  for (let at = first; at <= calls; at += stride)
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

type Execute = MigratorOptions["target"]["execute"];

/** A process whose actions are executed in another way. An error is a refusal, unless it states that no answer came. */
function executing(options: MigratorOptions, execute: Execute) {
  const verdict = (error: unknown) =>
    ({ kind: (error as Error).message === "no answer" ? "unanswered" : "refused" }) as const;
  return { ...options, target: { ...options.target, execute, verdict } };
}

/** A process for which the calls on `u` are refused. */
function refusing(options: MigratorOptions): MigratorOptions {
  return executing(options, async (action, seen) => {
    if (action.table === "u") throw new Error("no space left");
    return await options.target.execute(action, seen);
  });
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

const tables = Array.from({ length: 10 }, (_, at) => `w${at}`);
/** A group of ten calls, of which eight are made at a time. */
const wide = [tables.map(createTable), tables.map((table) => rename("a", "c", table))];

test("an interrupted group stops between two calls and is resumed", async () => {
  const { database } = await scene(wide);
  const stopped = await database();
  const controller = new AbortController();
  const options = stopped.aProcess();
  const execute: Execute = async (action, seen) => {
    controller.abort();
    return await options.target.execute(action, seen);
  };
  const run = up({ ...options, target: { ...options.target, execute }, signal: controller.signal });
  await expect(run).rejects.toMatchObject({
    message:
      "interrupted; 0 migrations were applied, 8 of 10 calls for 0002_m to 0003_m were made; run migrate up to continue",
  });
  expect(await status(stopped.aProcess())).toMatchObject({
    pending: [{ version: 2 }, { version: 3 }],
    holder: undefined,
  });
  expect(await ended(stopped.aProcess())).toBe("well");
  expect(timesMade(stopped)).toEqual(Array(12).fill(1));
});

test("after a call of a group has failed, no other one begins", async () => {
  const { database } = await scene(wide);
  let calls = 0;
  const refused = executing((await database()).aProcess(), async () => {
    calls++;
    throw new Error("no space left");
  });
  expect(await ended(refused)).toBe("ERR_GROUP_FAILED");
  expect(calls).toBe(8);
});

test("if it is unknown whether a call was made, the group is finished as a group, also if another one was refused", async () => {
  const { database } = await scene(four);
  const failed = await database();
  const unsure = executing(failed.aProcess(), async ({ table }) => {
    throw new Error(table === "t" ? "no answer" : "no space left");
  });
  expect(await ended(unsure)).toBe("ERR_GROUP_FAILED");
  expect(await ended(failed.aProcess(), { to: 2, stepByStep: true })).toBe("ERR_BEGUN");
  expect(await ended(failed.aProcess())).toBe("well");
});

test("if the end of a failed group can't be recorded, the run states why the group failed", async () => {
  const { database } = await scene(four);
  const failed = await database();
  const options = refusing(failed.aProcess());
  const { ledger } = options.target;
  if (ledger.kind !== "rows") throw new TypeError("the ledger is a table");
  let isFull = false;
  const records: typeof ledger.records = (shape) => {
    const table = ledger.records(shape);
    return { ...table, insert: async (rows) => (isFull ? Promise.reject(new Error("full")) : table.insert(rows)) };
  };
  const emit = ({ event }: RunEvent) => void (isFull ||= event === "group");
  expect(await ended({ ...options, target: { ...options.target, ledger: { ...ledger, records } }, emit })).toBe(
    "ERR_GROUP_FAILED",
  );
});

/** A process beside which something else happens once its group has begun, before it describes that table. */
function disturbed(options: MigratorOptions, table: string, work: (others: Target) => Promise<unknown>) {
  const { target } = options;
  let isDue = false;
  const describeTable: typeof target.describeTable = async (name, withIndexes) => {
    if (isDue && name === table) {
      isDue = false;
      await work(target);
    }
    return await target.describeTable(name, withIndexes);
  };
  return {
    ...options,
    target: { ...target, describeTable },
    emit: ({ event }: RunEvent) => void (isDue ||= event === "group"),
  };
}

test("if others have changed a table, a group states that and leaves the table alone", async () => {
  const { database } = await scene(four);
  const failed = await database();
  const action = { kind: "alterColumns", table: "t", alterations: [{ path: "b", nullable: true }] } as const;
  const changed = disturbed(failed.aProcess(), "t", async (others) => {
    await others.execute(action, await others.describeTable("t"));
  });
  expect(await ended(changed)).toBe("ERR_TABLE_CHANGED");
  expect(columnsOf(failed)[0]).toMatchObject(["t", [{ name: "a" }, { name: "b", nullable: true }]]);
});

test("a run that can't reach the target any more reports that it has left its group", async () => {
  const { database } = await scene(four);
  const left = await database();
  const unreachable = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "no route" });
  const options = executing(left.aProcess(), () => Promise.reject(unreachable));
  const events: RunEvent[] = [];
  const emit = (event: RunEvent) => void events.push(event);
  expect(await ended({ ...options, emit })).toBe("ERR_TARGET_UNREACHABLE");
  // Which of the calls fails first, and so which migration is named, is chance.
  const named = { version: expect.any(Number), name: "m", direction: "up", total: expect.any(Number) };
  expect(events).toContainEqual({ event: "left", ...named, isTakenOver: false, applied: 0, done: 0 });
  expect((await status(left.aProcess())).holder).toBeDefined();
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

test("a saved plan finishes a group only on the tables for which it was made", async () => {
  const killed = await halfDone();
  await killed.oversleep();
  const plan = await savePlan(killed.aProcess());
  const [table] = columnsOf(killed).find(([, [first]]) => first!.name === "a")!;
  const recreated = disturbed(killed.aProcess(), table, async (others) => {
    await others.discard!(table);
    await others.execute(createTable(table) as Action, undefined);
  });
  await expect(up(recreated, { plan })).rejects.toThrow("it was dropped and recreated");
  expect(columnsOf(killed)).toContainEqual([table, [expect.objectContaining({ name: "a" }), expect.anything()]]);
});

/** What aborts a run when its group begins. */
function stoppingAtGroup() {
  const controller = new AbortController();
  const emit = ({ event }: RunEvent) => event === "group" && controller.abort();
  return { emit, signal: controller.signal };
}

test("a group that has begun and is interrupted before its next call is finished as a group", async () => {
  const killed = await halfDone();
  await killed.oversleep();
  await expect(up({ ...killed.aProcess(), ...stoppingAtGroup() })).rejects.toMatchObject({
    message: "interrupted; 0 migrations were applied; run migrate up to continue",
  });
  expect(await ended(killed.aProcess(), { to: 3 })).toBe("ERR_BEGUN");
  expect(await ended(killed.aProcess())).toBe("well");
});

test("an interrupted run reports what it has applied before the group", async () => {
  const { database } = await scene([
    [{ kind: "retypeColumn", table: "t", path: "b", type: { kind: "int64" } }],
    ...four.slice(0, 1),
    [rename("c", "d"), rename("c", "d", "u")],
  ]);
  const stopped = await database();
  await expect(up({ ...stopped.aProcess(), ...stoppingAtGroup() })).rejects.toMatchObject({
    message: "interrupted; 1 migration was applied; run migrate up to continue",
  });
  expect(await ended(stopped.aProcess(), { to: 3, stepByStep: true })).toBe("well");
});

test("before a group that has begun is resumed, a hook is called for each of its migrations, and may refuse", async () => {
  const killed = await halfDone();
  await killed.oversleep();
  const called: number[] = [];
  let refused = 3;
  const beforeMigration = ({ version }: { readonly version: number }) => {
    called.push(version);
    if (version === refused) throw new Error("not now");
  };
  const process = () => ({ ...killed.aProcess(), hooks: { target: "test", hooks: { beforeMigration } } });
  expect(await ended(process())).toBe("ERR_HOOK_REFUSED");
  expect(await ended(killed.aProcess(), { to: 3 })).toBe("ERR_BEGUN");
  refused = 0;
  expect(await ended(process())).toBe("well");
  expect(called).toEqual([2, 3, 2, 3, 4, 5]);
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
  for (let at = first; at <= undisturbed.calls(); at += stride)
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

/** A database of a service, the runs of which share a clock. */
async function aServiceScene() {
  const folder = temporaryFolder();
  const write = (version: number, steps: readonly Step[]) =>
    writeFileSync(join(folder, `000${version}_m.mjs`), `export const up = ${JSON.stringify(steps)};\n`);
  const clock = sleepingClock();
  const tables = memoryTables({ now: clock.wall });
  const process = (carry: Carry = async ({ arrive }) => arrive()()): MigratorOptions => ({
    target: memoryTarget({ name: "test", model: "namespace", tables, carry, clock }),
    migrations: migrationsIn(folder),
    ledger: "_migrations",
    clock,
    lease: { duration: 30_000, patience: 600_000 },
  });
  write(1, [createTable("t"), createTable("u")]);
  await up(process());
  return { write, clock, tables, process };
}

test("the versions of a table are recorded with the first migration of a group that changes it", async () => {
  const { write, process } = await aServiceScene();
  write(2, [rename("a", "c"), rename("a", "c", "u")]);
  write(3, [rename("c", "d"), createTable("v")]);
  write(4, [rename("c", "d", "u"), rename("a", "c", "v")]);
  await up(process());
  const records = (await history(process())).filter(({ event }) => event === "applied").slice(1);
  const dated = [1, 2, "none", [null, expect.any(Number)]];
  expect(records.map(({ version, tables }) => [version, tables])).toEqual([
    [2, { t: dated, u: dated }],
    [3, { v: [null, 1, "none", [null, expect.any(Number)]] }],
    [4, {}],
  ]);
});

test("both late calls of a group are found", async () => {
  const { write, clock, tables, process } = await aServiceScene();
  const loose = (table: string, nullable: boolean) => ({ kind: "setNullable", table, path: "b", nullable });
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

test("while a group is in doubt, no other migration is marked, and no member as adopted", async () => {
  const killed = await halfDone();
  await killed.oversleep();
  for (const choice of [{ reverted: "1" }, { adopted: "3" }])
    await expect(resolve(killed.aProcess(), choice)).rejects.toMatchObject({
      code: "ERR_RESOLVE",
      details: { problem: "0002_m was begun but not finished; run migrate up or migrate down first" },
    });
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
