import { expect, test } from "vitest";
import { MigrateError } from "../../../src/errors/migrate-error.ts";
import { down } from "../../../src/commands/down.ts";
import { planDown } from "../../../src/commands/plan.ts";
import { baseline } from "../../../src/features/repair/baseline.ts";
import { up } from "../../../src/commands/up.ts";
import { prune } from "../../../src/commands/prune.ts";
import type { MigratorOptions } from "../../../src/run/run-context.ts";
import { columnsOf, int32 } from "../../../src/schema/declare/type-builders.ts";
import { systemClock } from "../../../src/time/clock.ts";
import { sleepingClock } from "../../support/clocks.ts";
import { sourceOf } from "../../simulate/start-run.ts";
import type { RunEvent } from "../../../src/run/events.ts";
import type { Model } from "../../simulate/target/carry.ts";
import type { Versions } from "../../../src/targets/contract/versions.ts";
import { memoryTarget } from "../../simulate/target/memory-target.ts";
import { memoryTables } from "../../simulate/target/memory-tables.ts";
import type { Target } from "../../../src/targets/contract/target.ts";
import { aMigration } from "../../simulate/history.ts";

const dropping = [
  aMigration(1, [{ kind: "createTable", table: "t", columns: [...columnsOf({ a: int32(), b: int32() })] }]),
  aMigration(2, [{ kind: "dropColumn", table: "t", path: "b" }]),
];

/** Tables in memory, and runs on them: what is other of their target, and of their options. */
function aScene(model: Model = "embedded") {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model, tables });
  const clock = sleepingClock();
  const options = (target: Partial<Target> = {}, more: Partial<MigratorOptions> = {}): MigratorOptions => ({
    target: { ...memory, ...target },
    ledger: "_migrations",
    migrations: sourceOf(dropping),
    lease: { duration: 30_000, patience: 0 },
    clock,
    ...more,
  });
  return { tables, memory, options };
}

/** Drops no column. */
function refusing(memory: Target): Partial<Target> {
  return {
    execute: async (action, seen) => {
      if (action.kind === "dropColumns") throw new Error("refused");
      return await memory.execute(action, seen);
    },
  };
}

test("a call without an answer is found done also where others write before it takes effect", async () => {
  const { tables, memory, options } = aScene("namespace");
  let late: (() => void)[] = [];
  const target: Partial<Target> = {
    describeTable: async (name, withIndexes) => {
      const snapshot = await memory.describeTable(name, withIndexes);
      late.shift()?.();
      return snapshot;
    },
    execute: async (action, seen) => {
      if (action.kind !== "alterColumns" || late.length > 0) return await memory.execute(action, seen);
      // Nothing by the look after the call; others compact; it takes effect after the look that sees that.
      late = [() => tables.write("t", "compact"), () => tables.carryOut(action)];
      throw new Error("no answer");
    },
    verdict: () => ({ kind: "unanswered" }),
  };
  const migrations = [
    aMigration(1, [{ kind: "createTable", table: "t", columns: [...columnsOf({ a: int32().notNull() })] }]),
    aMigration(2, [{ kind: "setNullable", table: "t", path: "a", nullable: true }]),
  ];
  await up(options({}, { migrations: sourceOf(migrations) }));
  expect(await down(options(target, { migrations: sourceOf(migrations) }), { to: 1 })).toEqual({
    reverted: 1,
    total: 1,
  });
  expect(tables.get("t")!.columns).toMatchObject([{ name: "a", nullable: false }]);
});

test("what rolls a migration back is kept also where others clean up the version that was seen", async () => {
  const { tables, memory, options } = aScene();
  let cleanUps = 2;
  const keep: Versions["keep"] = async (...kept) => {
    if (cleanUps-- > 0) {
      tables.write("t", "compact");
      tables.cleanUp("t");
    }
    return await memory.versions!.keep(...kept);
  };
  const unkept: object[] = [];
  const emit = (event: RunEvent) => void (event.event === "unkept" && unkept.push(event));
  const disturbed = options({ versions: { ...memory.versions!, keep } }, { emit });
  await up(disturbed);
  expect(unkept).toEqual([]);
  expect(await down(disturbed, { to: 1 })).toEqual({ reverted: 1, total: 1 });
  expect(tables.get("t")!.columns).toMatchObject([{ name: "a" }, { name: "b" }]);
});

test("a migration whose version cannot be kept changes nothing, unless it may be irreversible", async () => {
  const { tables, memory, options } = aScene();
  const keep = async () => {
    throw new Error("no space left");
  };
  const events: object[] = [];
  const versions = { ...memory.versions!, keep };
  const emit = (event: RunEvent) => void events.push(event);
  const unable = options({ versions }, { guards: { accepts: ["lossy"] }, emit });
  const error = await up(unable).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "ERR_VERSION_UNKEPT", outcome: "failed" });
  expect(String(error)).toMatch(/version 1 of t, which migrate down would restore, can't be kept: .*no space left/);
  expect(tables.get("t")!.columns).toHaveLength(2);
  expect(events).not.toContainEqual(expect.objectContaining({ event: "unkept" }));
  expect(await up(unable, { accept: ["irreversible"] })).toMatchObject({ applied: 1 });
  expect(events).toContainEqual(expect.objectContaining({ event: "unkept", table: "t" }));
  expect(tables.get("t")!.columns).toHaveLength(1);
});

test("a ledger neither replaces nor releases nor lists what another ledger keeps of the same table", async () => {
  const { memory: target, options } = aScene();
  const updating = aMigration(2, [{ kind: "execute", table: "t", change: { update: { a: "1" } } }]);
  const migrations = sourceOf([dropping[0]!, updating]);
  const [one, other] = ["_migrations", "_others"].map((ledger) => options({}, { ledger, migrations })) as [
    MigratorOptions,
    MigratorOptions,
  ];
  await up(one, { to: 1 });
  await baseline(other, { to: 1 });
  await up(one);
  await up(other);
  const keptVersions = async () => (await target.versions!.kept("t")).map(({ version }) => version);
  expect(await keptVersions()).toEqual([1, 2]);
  expect(await prune(one, {})).toMatchObject([{ version: 1, migration: "0002_drawn" }]);
  expect(await prune(other, { yes: true })).toMatchObject([{ version: 2, migration: "0002_drawn" }]);
  expect(await keptVersions()).toEqual([1]);
  await down(other, { accept: ["lossy"] });
  expect(await keptVersions()).toEqual([1]);
  await down(one, { accept: ["lossy"] });
  expect(await keptVersions()).toEqual([]);
});

test("what an older release kept for another ledger than the default one is listed and released", async () => {
  const { memory: target, options: optionsWith } = aScene();
  const options = optionsWith({}, { ledger: "_others" });
  await up(options);
  await target.versions!.release("t", "0002.v1.e1-_others");
  await target.versions!.keep("t", 1, "0002");
  await target.versions!.keep("t", 2, "0003");
  expect(await prune(options, {})).toMatchObject([{ name: "0002", version: 1 }]);
  await down(options, { to: 1 });
  expect(await target.versions!.kept("t")).toEqual([{ name: "0003", version: 2 }]);
});

test("prune keeps the version that a run keeps while the versions are listed", async () => {
  const { tables, memory, options } = aScene();
  await up(options(), { to: 1 });
  let proceed!: () => void;
  const pruned = new Promise<void>((resolve) => (proceed = resolve));
  let running: Promise<unknown> | undefined;
  const startRun = () =>
    new Promise<void>((resolve) => {
      running = up(
        options({
          async execute(action, seen) {
            resolve();
            await pruned;
            return await memory.execute(action, seen);
          },
        }),
      );
    });
  const versions = {
    ...memory.versions!,
    async kept(table: string) {
      if (running === undefined) await startRun();
      return await memory.versions!.kept(table);
    },
  };
  expect(await prune(options({ versions }), { yes: true })).toMatchObject([{ version: 1, isNeeded: true }]);
  proceed();
  await running;
  expect(await down(options(), { to: 1 })).toMatchObject({ reverted: 1 });
  expect(tables.get("t")!.columns).toMatchObject([{ name: "a" }, { name: "b" }]);
});

test("what rolls migrations back is kept no more once they are rolled back", async () => {
  const { memory: target, options } = aScene();
  const renaming = aMigration(3, [{ kind: "renameColumn", table: "t", path: "a", name: "c" }]);
  const all = options({}, { migrations: sourceOf([...dropping, renaming]) });
  await up(all);
  expect(await target.versions!.kept("t")).toHaveLength(1);
  expect(await down(all, { to: 1 })).toMatchObject({ reverted: 2 });
  expect(await target.versions!.kept("t")).toEqual([]);
});

test("the version that a run kept before it was killed is the one that a rollback restores", async () => {
  const { tables, memory, options } = aScene();
  await expect(up(options(refusing(memory)))).rejects.toMatchObject({ code: "ERR_STEP_FAILED" });
  tables.write("t", "compact");
  const keep = async (...kept: Parameters<NonNullable<Target["versions"]>["keep"]>) => {
    await memory.versions!.keep(...kept);
    throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "memory", problem: "killed" });
  };
  await expect(up(options({ versions: { ...memory.versions!, keep } }))).rejects.toThrow("killed");
  tables.write("t", "compact");
  tables.cleanUp("t");
  expect(await up(options())).toMatchObject({ applied: 1 });
  expect(await down(options(), { to: 1 })).toMatchObject({ reverted: 1 });
  expect(tables.get("t")!.columns).toMatchObject([{ name: "a" }, { name: "b" }]);
});

test("a request to keep or to release a version that comes late changes nothing of what another run has kept", async () => {
  const { tables, memory, options } = aScene("namespace");
  const late: (() => Promise<void>)[] = [];
  const unanswered = () => {
    throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "memory", problem: "no answer" });
  };
  const versions: NonNullable<Target["versions"]> = {
    ...memory.versions!,
    async keep(...kept) {
      late.push(() => memory.versions!.keep(...kept));
      unanswered();
    },
    async release(...kept) {
      late.push(() => memory.versions!.release(...kept));
      unanswered();
    },
  };
  const arrive = async () => {
    for (const call of late.splice(0)) await call();
    tables.cleanUp("t");
  };
  await expect(up(options(refusing(memory)))).rejects.toMatchObject({ code: "ERR_STEP_FAILED" });
  tables.write("t", "compact");
  await expect(up(options({ versions }))).rejects.toThrow("no answer");
  expect(await up(options())).toMatchObject({ applied: 1 });
  await arrive();
  expect(await prune(options(), {})).toMatchObject([{ migration: "0002_drawn" }, { migration: undefined }]);
  expect(await down(options({ versions }), { to: 1 })).toMatchObject({ reverted: 1 });
  expect(await up(options())).toMatchObject({ applied: 1 });
  await arrive();
  expect(await down(options(), { to: 1 })).toMatchObject({ reverted: 1 });
  expect(tables.get("t")!.columns).toMatchObject([{ name: "a" }, { name: "b" }]);
  expect(await memory.versions!.kept("t")).toEqual([]);
});

test("a killed run is resumed also where no version can be kept or listed", async () => {
  const { memory, options } = aScene();
  const refused = async () => {
    throw new Error("no such call");
  };
  const versions = { ...memory.versions!, keep: refused, kept: refused };
  const killed: Partial<Target> = {
    execute: async (action, seen) => {
      if (action.kind !== "dropColumns") return await memory.execute(action, seen);
      throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "memory", problem: "killed" });
    },
  };
  await expect(up(options({ ...killed, versions }))).rejects.toThrow("killed");
  expect(await up(options({ versions }))).toMatchObject({ applied: 1 });
});

test("it rolls back only the migrations that the user agreed to, if others ran since", async () => {
  const { memory: target, options: optionsWith } = aScene();
  const migrations = [1, 2].map((version) =>
    aMigration(version, [{ kind: "createTable", table: `t${version}`, columns: [...columnsOf({ a: int32() })] }]),
  );
  const options = optionsWith({}, { migrations: sourceOf(migrations) });
  const [first, second] = migrations;
  await up(options, { to: 1 });
  await up(options);
  await expect(down(options, { accept: ["lossy"] }, [first!])).rejects.toMatchObject({ code: "ERR_ROLLBACK_OTHER" });
  await expect(down(options, { accept: ["lossy"] }, [])).rejects.toThrow(
    "there was nothing to roll back, and since then",
  );
  expect(await target.listTables()).toContain("t2");
  expect(await down(options, { accept: ["lossy"] }, [second!])).toEqual({ reverted: 1, total: 1 });
});

const twoMigrations = sourceOf([
  aMigration(1, [{ kind: "createTable", table: "t", columns: [...columnsOf({ a: int32() })] }]),
  aMigration(2, [{ kind: "renameColumn", table: "t", path: "a", name: "b" }]),
]);

function besideAnother() {
  const { memory, options } = aScene();
  return { memory, options: options({}, { migrations: twoMigrations, clock: systemClock }) };
}

test("tables that another run makes while down looks for them are no sign of a lost ledger", async () => {
  const { memory, options } = besideAnother();
  let isFirst = true;
  const listTables: Target["listTables"] = async (...given) => {
    if (isFirst) {
      isFirst = false;
      await up(options);
    }
    return await memory.listTables(...given);
  };
  expect(await down({ ...options, target: { ...memory, listTables } })).toEqual({ reverted: 1, total: 1 });
});

test("what another run has done and not recorded yet is no drift for the plan of a rollback", async () => {
  const { memory, options } = besideAnother();
  await up(options, { to: 1 });
  let isDead = false;
  const die = () => {
    throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "memory", problem: "killed" });
  };
  const target: Target = {
    ...memory,
    describeTable: async (...given) => (isDead ? die() : await memory.describeTable(...given)),
    execute: async (...given) => {
      await memory.execute(...given);
      isDead = true;
      return die();
    },
  };
  await expect(up({ ...options, target })).rejects.toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  await expect(planDown(options)).rejects.toMatchObject({ code: "ERR_UNSETTLED", details: { version: "0002" } });
  // A run that has been silent for its whole lease is not at work any more.
  const later = { ...systemClock, wall: () => systemClock.wall() + 60_000 };
  await expect(planDown({ ...options, clock: later })).rejects.toMatchObject({ code: "ERR_DRIFT" });
});
