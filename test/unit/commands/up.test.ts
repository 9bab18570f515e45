import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrationsIn } from "../../../src/migrations/source.ts";
import type { Clock } from "../../../src/time/clock.ts";
import { foldLedger } from "../../../src/ledger/state/fold.ts";
import { takeLease, type Lease } from "../../../src/ledger/lease/lease.ts";
import type { LedgerRecord } from "../../../src/ledger/state/record.ts";
import { rowsJournal } from "../../../src/ledger/journal/rows-journal.ts";
import type { RunEvent } from "../../../src/run/events.ts";
import { MigrateError } from "../../../src/errors/migrate-error.ts";
import { up } from "../../../src/commands/up.ts";
import { plan } from "../../../src/commands/plan.ts";
import { history, status } from "../../../src/commands/status.ts";
import type { MigratorOptions } from "../../../src/run/run-context.ts";
import type { Action } from "../../../src/actions/model/action.ts";
import { memoryTables } from "../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../simulate/target/memory-target.ts";
import type { Target } from "../../../src/targets/contract/target.ts";
import type { RecordTable } from "../../../src/targets/contract/ledger-store.ts";
import type { Row } from "../../../src/wire/rows/ipc-rows.ts";
import { handClock } from "../../support/clocks.ts";
import { recordsOf } from "../../support/ledger.ts";
import { temporaryFolder } from "../../support/project.ts";

const duration = 30_000;
const ledger = "_migrations";

/** What a test lets happen at the moment that something is asked of the database; each runs once. */
interface Script {
  /** Before the n-th look at a table, counted from 1. */
  readonly look?: Readonly<Record<number, () => unknown>>;
  /** Before the n-th reading of the whole ledger. */
  readonly read?: Readonly<Record<number, () => unknown>>;
  /** Before the n-th taking of an epoch, and after it. */
  readonly take?: Readonly<Record<number, () => unknown>>;
  readonly taken?: Readonly<Record<number, () => unknown>>;
  /** Instead of, or before, the n-th action. */
  readonly execute?: Readonly<Record<number, (work: () => Promise<unknown>) => unknown>>;
  readonly insert?: Readonly<Record<number, () => unknown>>;
}

/** A database in memory that many runners share: tables, the ledger's rows, and the time. */
function aWorld() {
  const folder = temporaryFolder();
  const clock = handClock();
  const tables = memoryTables({ now: clock.wall });
  const sent: Action[] = [];

  function aTarget(script: Script): Target {
    const counts: Record<string, number> = {};
    const countOf = (what: keyof Script) => (counts[what] = (counts[what] ?? 0) + 1);
    const due = async (what: Exclude<keyof Script, "execute">) => void (await script[what]?.[countOf(what)]?.());
    const memory = memoryTarget({ name: "test", model: "embedded", tables, clock });
    const scripted = (records: RecordTable): RecordTable => ({
      ...records,
      async all(names) {
        await due("read");
        return await records.all(names);
      },
      async insertIfAbsent(row) {
        await due("take");
        const isAbsent = await records.insertIfAbsent(row);
        await due("taken");
        return isAbsent;
      },
      async insert(rows) {
        await due("insert");
        await records.insert(rows);
      },
    });
    return {
      ...memory,
      async describeTable(name, withIndexes) {
        await due("look");
        return await memory.describeTable(name, withIndexes);
      },
      async execute(action, seen) {
        sent.push(action);
        const instead = script.execute?.[countOf("execute")];
        if (instead === undefined) return await memory.execute(action, seen);
        await instead(() => memory.execute(action, seen));
        return { version: tables.get(action.table)?.version };
      },
      verdict: (error) => (/conflict/.test(String(error)) ? { kind: "conflict" } : memory.verdict(error)),
      ledger: { kind: "rows", records: () => scripted(recordsOf(memory, ledger)) },
    };
  }

  let runs = 0;
  return {
    clock,
    /** The same time for a process that is gone: its timers do not fire. */
    still: { ...clock, every: () => () => {} } satisfies Clock,
    /** Somebody else does this. */
    change: (action: Action) => tables.carryOut(action),
    sent,
    folder,
    columns: (table: string) => tables.get(table)?.columns.map(({ name }) => name),
    /** Changes a row of the ledger by hand. */
    changeRow(key: string, changes: Row) {
      const { rows } = tables.get(ledger)!;
      tables.write(ledger, "update", { rows: rows.map((row) => (row.key === key ? { ...row, ...changes } : row)) });
    },
    /** A migration file; its steps are plain data. */
    migration: (name: string, steps: readonly object[]) =>
      writeFileSync(join(folder, `${name}.mjs`), `export const up = ${JSON.stringify(steps)};\n`),
    runner(script: Script = {}, more: Partial<MigratorOptions> = {}): MigratorOptions {
      const run = `run ${++runs}`;
      return {
        target: aTarget(script),
        migrations: migrationsIn(folder),
        ledger,
        clock,
        lease: { duration, patience: 600_000 },
        runner: { by: run, run, tool: "test" },
        ...more,
      };
    },
    /** Somebody who takes the lease by hand, with a clock of their own. */
    async holder(by: string, next: number | undefined, own: Clock = handClock()): Promise<Lease> {
      const journal = rowsJournal(ledger, recordsOf(aTarget({}), ledger));
      const state = foldLedger(await journal.read());
      const lease = await takeLease(journal, state, { by, run: by, tool: "test" }, next, { duration, clock: own });
      return lease!;
    },
    async records(): Promise<readonly LedgerRecord[]> {
      return await history({ ...this.runner(), lease: { duration, patience: 0 } });
    },
    async events(): Promise<readonly string[]> {
      return (await this.records()).map(({ epoch, number, event, version }) =>
        `${epoch}.${number} ${event} ${version ?? ""}`.trim(),
      );
    },
  };
}

function column(name: string, kind = "int32") {
  return { name, type: { kind }, nullable: true };
}
const createT = { kind: "createTable", table: "t", columns: [column("a"), column("b")] };
const rename = (path: string, name: string) => ({ kind: "renameColumn", table: "t", path, name });
const renamed = (path: string, name: string): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [{ path, rename: name }],
});

const stepByStep = { stepByStep: true };

/** A world in which migration 1 has created t(a, b), and others are pending. */
async function aWorldWithT(pending: Readonly<Record<string, readonly object[]>> = {}) {
  const world = aWorld();
  world.migration("0001_create", [createT]);
  await up(world.runner());
  world.sent.length = 0;
  for (const [name, steps] of Object.entries(pending)) world.migration(name, steps);
  return world;
}

test("what is pending is applied in order, recorded, and released", async () => {
  const world = aWorld();
  world.migration("0001_create", [createT]);
  world.migration("0002_rename", [rename("a", "c"), rename("b", "d")]);
  expect(await up(world.runner(), stepByStep)).toEqual({ applied: 2, total: 2 });
  expect(world.columns("t")).toEqual(["c", "d"]);
  expect(await world.events()).toEqual(["1.0 taken", "1.1 applied 1", "1.2 applied 2", "1.3 released"]);
});

test("a run with nothing pending takes no lease and reads just the newest record", async () => {
  const world = await aWorldWithT();
  let reads = 0;
  const result = await up(world.runner({ read: { 1: () => reads++ } }));
  expect([result, reads]).toEqual([{ applied: 0, total: 1 }, 0]);
  expect(await world.events()).toHaveLength(3);
});

test("a run tells what it does in this order", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  const events: RunEvent[] = [];
  await up(world.runner({}, { emit: (event) => events.push(event) }));
  expect(events.map(({ event }) => event)).toEqual([
    "taking",
    "planned",
    "started",
    "action",
    "done",
    "applied",
    "finished",
  ]);
});

test("a runner waits for the one who holds the lease and then has nothing left to do", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  const other = await world.holder("other", 2);
  const finish = async () => {
    world.change(renamed("a", "c"));
    await other.release([await appliedEntry(world, 2)]);
  };
  const events: RunEvent[] = [];
  const result = await up(world.runner({ read: { 2: finish } }, { emit: (event) => events.push(event) }));
  expect(result).toEqual({ applied: 0, total: 2 });
  expect(events.map(({ event }) => event)).toEqual(["waiting", "finished"]);
  expect(world.sent).toEqual([]);
});

/** What the executor records for an applied migration, with the hashes of its file. */
async function appliedEntry(world: ReturnType<typeof aWorld>, version: number) {
  const { migrations } = await plan(world.runner());
  const { migration, total } = migrations.find((one) => one.migration.version === version)!;
  const { name, checksum, textHash } = migration;
  return { event: "applied", version, name, step: total, total, checksum, textHash, steps: [] } as const;
}

test("two runners that start at once do the work once", async () => {
  const world = aWorld();
  world.migration("0001_create", [createT]);
  world.migration("0002_rename", [rename("a", "c")]);
  const results = await Promise.all([up(world.runner(), stepByStep), up(world.runner(), stepByStep)]);
  expect(results.map(({ applied }) => applied).toSorted()).toEqual([0, 2]);
  expect(world.sent).toHaveLength(2);
});

test("a runner that plans while another begins takes its changes for no drift", async () => {
  const world = await aWorldWithT();
  world.migration("0002_rename", [rename("a", "c")]);
  world.migration("0003_rename", [rename("b", "d")]);
  // The first look of a run is the planner's. By then the other has read the ledger, won, and done all its work.
  const slow = world.runner({ look: { 1: () => up(world.runner()) } });
  await expect(up(slow)).resolves.toEqual({ applied: 0, total: 3 });
});

test("of two runners that waited for the same dead holder the second waits for the first", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  await world.holder("dead", 2);
  // Between the waiter's last look at the ledger and its reading of it, another waiter takes over and is alive.
  const takeOver = () => world.holder("alive", 2, world.clock);
  const waiter = up(world.runner({ read: { 2: takeOver } }, { lease: { duration, patience: 100_000 } }));
  await expect(waiter).rejects.toMatchObject({ code: "ERR_LEASE_HELD", details: { by: "alive" } });
  expect(foldLedger(await world.records())).toMatchObject({ epoch: 3, holder: { by: "alive" } });
});

test("a run with nothing pending waits for one word of a holder whose migration has no file here", async () => {
  const world = await aWorldWithT();
  await world.holder("newer", 2, world.clock);
  const started = world.clock.steady();
  expect(await up(world.runner())).toEqual({ applied: 0, total: 1 });
  expect(world.clock.steady() - started).toBeLessThan(duration);
});

test("a run with nothing pending refuses where such a holder is silent for a whole lease", async () => {
  const world = await aWorldWithT();
  await world.holder("dead", 2);
  expect(await status(world.runner())).toMatchObject({ begun: [] });
  await expect(up(world.runner())).rejects.toMatchObject({ code: "ERR_BEGUN", details: { version: "0002" } });
  expect(await status(world.runner())).toMatchObject({ begun: [{ version: 2, known: undefined }] });
  expect((await world.events()).slice(3)).toEqual(["2.0 taken"]);
});

test("a holder that is heard of again before its successor is ready keeps its lease", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  const holder = await world.holder("slow", 2);
  const script = { read: { 2: () => holder.record([{ event: "renewed", next: 2 }]) } };
  const waiter = up(world.runner(script, { lease: { duration, patience: duration + 10_000 } }));
  await expect(waiter).rejects.toMatchObject({ code: "ERR_LEASE_HELD", details: { by: "slow" } });
  expect((await world.events()).slice(3)).toEqual(["2.0 taken", "2.1 renewed"]);
});

test("a holder that is heard of again while its successor looks at the tables keeps its lease", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  const holder = await world.holder("slow", 2);
  // The first look is the one of the run that found the holder silent for a whole lease.
  const script = { look: { 1: () => holder.record([{ event: "renewed", next: 2 }]) } };
  const waiter = up(world.runner(script, { lease: { duration, patience: duration + 10_000 } }));
  await expect(waiter).rejects.toMatchObject({ code: "ERR_LEASE_HELD", details: { by: "slow" } });
  expect((await world.events()).slice(3)).toEqual(["2.0 taken", "2.1 renewed"]);
});

test("a run with something pending refuses a ledger whose newest record contradicts the others", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  world.changeRow("1.1", { event: "renewed" });
  await expect(up(world.runner())).rejects.toMatchObject({ code: "ERR_LEDGER_CHANGED" });
  expect(world.sent).toEqual([]);
});

test("a pending migration does not run while the file of an applied one is missing", async () => {
  const world = await aWorldWithT();
  rmSync(join(world.folder, "0001_create.mjs"));
  world.migration("0002_rename", [rename("a", "c")]);
  await expect(up(world.runner())).rejects.toMatchObject({ code: "ERR_MIGRATION_MISSING" });
  expect(world.sent).toEqual([]);
});

test("an interrupt while a run waits for the lease ends it before it changes anything", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  await world.holder("other", 2, world.clock);
  const interrupt = new AbortController();
  const emit = ({ event }: RunEvent) => event === "waiting" && interrupt.abort();
  const waiter = up(world.runner({}, { signal: interrupt.signal, emit }));
  await expect(waiter).rejects.toMatchObject({
    message: "interrupted; this run changed no table, but another run may have left 0002 half-done; run it again",
  });
  expect(world.sent).toEqual([]);
});

test("an interrupted run reports how many migrations it has applied", async () => {
  const world = await aWorldWithT();
  world.migration("0002_rename", [rename("a", "c")]);
  world.migration("0003_rename", [rename("b", "d")]);
  const interrupt = new AbortController();
  const emit = ({ event }: RunEvent) => event === "applied" && interrupt.abort();
  const interrupted = up(world.runner({}, { signal: interrupt.signal, emit }), stepByStep);
  await expect(interrupted).rejects.toThrow("1 migration was applied; run migrate up to continue");
});

test("a run whose lease another took while it planned writes nothing to the ledger any more", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  // The first look plans before the lease is taken, the second under it.
  const suspended = world.runner({ look: { 2: () => up(world.runner()) } }, { clock: world.still });
  expect(await up(suspended)).toEqual({ applied: 0, total: 2 });
  expect((await world.events()).slice(3)).toEqual([
    "2.0 taken",
    "3.0 taken",
    "3.1 renewed",
    "3.2 applied 2",
    "3.3 released",
  ]);
});

test("a run that was told that it has the lease believes the ledger where that names another", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  const give = () => world.changeRow("2.0", { by: "other", run: "run of another" });
  expect(await up(world.runner({ taken: { 1: give } }))).toEqual({ applied: 1, total: 2 });
  const records = await world.records();
  expect(records.filter(({ epoch }) => epoch === 2)).toMatchObject([{ event: "taken", by: "other" }]);
  expect(records.at(-1)).toMatchObject({ epoch: 3, event: "released" });
});

/** What a call throws whose answer nobody will hear. */
function killed(): never {
  throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "killed" });
}

test("a run that ends without knowing how far it got lets its lease run out", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  // The look after the action: planned twice, looked at before it, then cut off.
  await expect(up(world.runner({ look: { 4: killed } }))).rejects.toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  const before = await world.events();
  await world.clock.pass(duration * 3);
  expect(await world.events()).toEqual(before);
});

test("a caller's own error in the middle of a run lets the lease run out", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  const emit = ({ event }: RunEvent) => {
    if (event === "started") throw new Error("the terminal is gone");
  };
  await expect(up(world.runner({}, { emit }))).rejects.toThrow("the terminal is gone");
  const before = await world.events();
  await world.clock.pass(duration * 3);
  expect(await world.events()).toEqual(before);
});

const crashes = [
  { when: "before its first action", reached: 0 },
  { when: "after its first action", reached: 1 },
  { when: "after its second action", reached: 2 },
  { when: "after its last action", reached: 3 },
];
const three = [rename("a", "c"), rename("b", "d"), rename("c", "e")];
const threeActions = [renamed("a", "c"), renamed("b", "d"), renamed("c", "e")];

test.each(crashes)("a run that died $when is gone on with and repeats nothing", async ({ reached }) => {
  const world = await aWorldWithT({ "0002_three": three });
  await world.holder("dead", 2);
  for (const action of threeActions.slice(0, reached)) world.change(action);
  expect(await up(world.runner())).toEqual({ applied: 1, total: 2 });
  expect(world.columns("t")).toEqual(["e", "d"]);
  expect(world.sent).toEqual(threeActions.slice(reached));
});

test.each(crashes)("a run that died $when may be taken over by one that dies too", async ({ reached }) => {
  const world = await aWorldWithT({ "0002_three": three });
  await world.holder("dead", 2);
  for (const action of threeActions.slice(0, reached)) world.change(action);
  await world.clock.pass(duration);
  await world.holder("dead too", 2);
  expect(await up(world.runner())).toEqual({ applied: 1, total: 2 });
  expect(world.sent).toEqual(threeActions.slice(reached));
});

test.each([1, 2, 3])("an action whose answer was lost after it worked is not sent again (action %i)", async (lost) => {
  const world = await aWorldWithT({ "0002_three": three });
  const reset = async (work: () => Promise<unknown>) => {
    await work();
    throw new Error("connection reset");
  };
  expect(await up(world.runner({ execute: { [lost]: reset } }), stepByStep)).toEqual({ applied: 1, total: 2 });
  expect(world.sent).toEqual(threeActions);
});

test("an action that another writer's commit got in the way of is sent again", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  const conflict = () => {
    throw new Error("Retryable commit conflict");
  };
  await up(world.runner({ execute: { 1: conflict, 2: conflict } }));
  expect(world.sent).toHaveLength(3);
  expect(world.columns("t")).toEqual(["c", "b"]);
});

test("a failed action is recorded with how far the migration got, and the next run goes on there", async () => {
  const world = await aWorldWithT({ "0002_three": three });
  const refuse = () => {
    throw new Error("no space left");
  };
  await expect(up(world.runner({ execute: { 2: refuse } }), stepByStep)).rejects.toMatchObject({
    code: "ERR_STEP_FAILED",
    details: { file: "0002_three.mjs", step: 2, done: 1, total: 3, applied: 0 },
  });
  expect(foldLedger(await world.records())).toMatchObject({ holder: undefined, inDoubt: new Set() });
  world.sent.length = 0;
  expect(await up(world.runner(), stepByStep)).toEqual({ applied: 1, total: 2 });
  expect(world.sent).toEqual(threeActions.slice(1));
});

test("a run that is interrupted while it plans takes no lease", async () => {
  const world = await aWorldWithT({ "0002_three": three });
  const controller = new AbortController();
  const before = await world.events();
  const interrupted = up(world.runner({ look: { 1: () => controller.abort() } }, { signal: controller.signal }));
  await expect(interrupted).rejects.toMatchObject({ code: "ERR_INTERRUPTED" });
  expect(await world.events()).toEqual(before);
});

test("an interrupted run stops between two actions, releases, and is gone on with", async () => {
  const world = await aWorldWithT({ "0002_three": three });
  const controller = new AbortController();
  const stop = async (work: () => Promise<unknown>) => {
    await work();
    controller.abort();
  };
  const interrupted = up(world.runner({ execute: { 1: stop } }, { signal: controller.signal }), stepByStep);
  await expect(interrupted).rejects.toMatchObject({ code: "ERR_INTERRUPTED" });
  expect((await world.events()).slice(-2)).toEqual(["2.1 interrupted 2", "2.2 released"]);
  expect(await up(world.runner(), stepByStep)).toEqual({ applied: 1, total: 2 });
  expect(world.sent).toEqual(threeActions);
});

test("a late action of a holder that was taken over ends in no drift that people must repair", async () => {
  const world = await aWorldWithT({ "0002_three": three });
  await world.holder("late", 2);
  // Looks: planned, planned again under the lease, then the executor's own. The late call lands just before that.
  const late = () => world.change(threeActions[0]!);
  await up(world.runner({ look: { 3: late } })).catch(() => {});
  await up(world.runner());
  expect(world.columns("t")).toEqual(["e", "d"]);
  expect((await status(world.runner())).pending).toEqual([]);
});

test("a late action of a holder that was taken over is found by the planner under the lease", async () => {
  const world = await aWorldWithT({ "0002_three": three });
  await world.holder("late", 2);
  const late = () => world.change(threeActions[0]!);
  expect(await up(world.runner({ look: { 2: late } }))).toEqual({ applied: 1, total: 2 });
  expect(world.sent).toEqual(threeActions.slice(1));
});

test("a late action that commits between the look and the call of its successor is done once", async () => {
  const world = await aWorldWithT({ "0002_three": three });
  await world.holder("late", 2);
  const race = async (work: () => Promise<unknown>) => {
    world.change(threeActions[0]!);
    await work();
  };
  expect(await up(world.runner({ execute: { 1: race } }))).toEqual({ applied: 1, total: 2 });
  expect(world.columns("t")).toEqual(["e", "d"]);
});

test("what a runner begins with is in doubt even when a late record made it begin elsewhere", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  const late = await world.holder("late", 2);
  world.change(renamed("a", "c"));
  const entry = await appliedEntry(world, 2);
  // The older release has no migration 3: its late release says nothing of a next one.
  world.migration("0003_three", [rename("b", "d"), rename("c", "e")]);
  // Its record comes while the new holder takes over; that one then dies after the first action of migration 3.
  const dies = world.runner({ taken: { 1: () => late.release([entry]) }, look: { 4: killed } }, { clock: world.still });
  await expect(up(dies)).rejects.toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  expect(world.columns("t")).toEqual(["c", "d"]);
  expect(await up(world.runner())).toEqual({ applied: 1, total: 3 });
});

test("a holder that died and was not heard of leaves a migration that was not begun as it is", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  await world.holder("dead", 2);
  world.change(renamed("b", "z"));
  await expect(up(world.runner())).rejects.toMatchObject({ code: "ERR_DRIFT" });
  expect(world.sent).toEqual([]);
  expect(foldLedger(await world.records())).toMatchObject({ epoch: 2, holder: { by: "dead", next: 2 } });
});

test("a migration in doubt is not taken for drift when one with a lower number has come since", async () => {
  const world = await aWorldWithT({ "0003_three": three });
  await world.holder("dead", 3);
  world.change(threeActions[0]!);
  world.migration("0002_retype", [{ kind: "retypeColumn", table: "t", path: "b", type: { kind: "int64" } }]);
  const end = await up(world.runner()).then(
    () => "well",
    (error: { readonly code: string }) => error.code,
  );
  expect(["well", "ERR_OUT_OF_ORDER"]).toContain(end);
});

test("what is refused under the lease releases it and leaves the doubt of older holders", async () => {
  const world = await aWorldWithT({ "0002_rename": [rename("a", "c")] });
  await world.holder("dead", 2);
  const byHand = () => world.change(renamed("b", "z"));
  await expect(up(world.runner({ look: { 2: byHand } }))).rejects.toMatchObject({ code: "ERR_DRIFT" });
  expect(foldLedger(await world.records())).toMatchObject({ epoch: 3, holder: undefined, inDoubt: new Set([2]) });
});

test("a changed text with the same steps is noted by the next run that has something to do", async () => {
  const world = await aWorldWithT();
  world.migration("0001_create", [{ ...createT, columns: createT.columns }]);
  const spaced = JSON.stringify([createT], undefined, 2);
  writeFileSync(join(world.folder, "0001_create.mjs"), `export const up = ${spaced};\n`);
  expect(await up(world.runner())).toEqual({ applied: 0, total: 1 });
  world.migration("0002_rename", [rename("a", "c")]);
  await up(world.runner());
  expect((await world.events()).slice(3)).toEqual(["2.0 taken", "2.1 noted 1", "2.2 applied 2", "2.3 released"]);
  let reads = 0;
  await up(world.runner({ read: { 1: () => reads++ } }));
  expect(reads).toBe(0);
});

test("a changed applied migration is refused even when nothing is pending", async () => {
  const world = await aWorldWithT();
  world.migration("0001_create", [{ ...createT, columns: [column("a"), column("other")] }]);
  await expect(up(world.runner())).rejects.toMatchObject({ code: "ERR_MIGRATION_CHANGED" });
});

test("a plan that is made beside a runner at work takes its progress for no drift", async () => {
  const world = await aWorldWithT({ "0002_u": [{ ...createT, table: "u" }] });
  await up(world.runner());
  world.migration("0003_both", [rename("a", "c"), { kind: "renameColumn", table: "u", path: "a", name: "c" }]);
  await world.holder("at work", 3);
  // The plan looks at t before the holder's first action and at u after its second.
  const both = () => {
    world.change(renamed("a", "c"));
    world.change({ ...renamed("a", "c"), table: "u" });
  };
  expect((await plan(world.runner({ look: { 2: both } }))).migrations).toMatchObject([{ done: 2, total: 2 }]);
});

test("a plan is made beside a runner that is at work on a migration of a newer release", async () => {
  const world = await aWorldWithT();
  await up(world.runner());
  await world.holder("at work", 3);
  expect((await plan(world.runner())).migrations).toEqual([]);
});

test("a ledger that can't be written stops the run, which the next one goes on with", async () => {
  const world = await aWorldWithT();
  world.migration("0002_rename", [rename("a", "c")]);
  world.migration("0003_rename", [rename("b", "d")]);
  const full = () => {
    throw new Error("no space left");
  };
  const dies = up(world.runner({ insert: { 1: full } }, { clock: world.still }));
  await expect(dies).rejects.toMatchObject({ code: "ERR_LEDGER_UNWRITABLE" });
  expect(await up(world.runner())).toEqual({ applied: 2, total: 3 });
  expect(world.sent).toHaveLength(2);
});
