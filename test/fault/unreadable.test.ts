/** Runs that end between a drop of the only column in which some rows have values, and the look at what is left. */
import { expect, test } from "vitest";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import { up } from "../../src/commands/up.ts";
import type { Hooks } from "../../src/run/hooks.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { columnsOf, int32 } from "../../src/schema/declare/type-builders.ts";
import { sourceOf } from "../simulate/start-run.ts";
import { loadAnyTarget } from "../support/any-target.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import type { Step } from "../../src/steps/registry.ts";
import { aMigration } from "../simulate/history.ts";
import { leapingOverLeases } from "../support/clocks.ts";
import { temporaryFolder } from "../support/project.ts";
import { aService, apiKey } from "../support/service.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

const create: Step = { kind: "createTable", table: "t", columns: [...columnsOf({ a: int32(), b: int32() })] };
const drop: Step = { kind: "dropColumn", table: "t", path: "a" };
const index: Step = { kind: "createIndex", table: "t", path: "b", type: { kind: "btree", options: {} } };

/** In an object store nothing asks before the run whether the column can be dropped. */
type Way = "a folder" | "an object store" | "a service";

interface Given {
  readonly way?: Way;
  readonly steps?: readonly Step[];
}

async function targetOn(folder: string, way: Way): Promise<Target> {
  const service = way === "a service" ? await aService(folder) : undefined;
  const module = await loadAnyTarget(service === undefined ? "lance" : "rest");
  const given =
    service === undefined
      ? { kind: "lance", uri: folder }
      : { kind: "rest", endpoint: service.url, dialect: "namespace", apiKey };
  const target = await module.open(given, { name: "test", folder });
  return way === "an object store" ? { ...target, tryDropping: undefined } : target;
}

async function aScene({ way = "a folder", steps = [create] }: Given = {}) {
  const folder = temporaryFolder();
  const target = await targetOn(folder, way);
  const leaping = leapingOverLeases();
  const optionsOf = (on: Target): MigratorOptions => ({
    target: on,
    ledger: "_migrations",
    migrations: sourceOf([aMigration(1, steps), aMigration(2, [drop])]),
    lease: { duration: 30_000, patience: 20_000 },
    ...leaping,
  });
  await up(optionsOf(target), { to: 1 });
  const table = async () => await (await lancedb.connect(folder)).openTable("t");
  await (await table()).add([{ a: 1, b: 1 }]);
  return {
    target,
    table,
    rows: () => rowsOf(folder, "t"),
    append: async (rows: Record<string, unknown>[]) => void (await (await table()).add(rows)),
    outcome: async (on: Target = target, hooks?: Hooks) =>
      await up({ ...optionsOf(on), hooks: hooks && { hooks, target: "test" } }).then(
        () => "done",
        (error: MigrateError) => `${error.code}: ${error.message}`,
      ),
  };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** Commits the drop by the engine's own call, with an append right before; nothing that the run asks later is answered. */
function dyingIn({ target, append, table }: Scene): Target {
  let isDead = false;
  const dead = () => new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "killed" });
  const mortal =
    <Given extends readonly unknown[], Result>(call: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      if (isDead) throw dead();
      return await call(...given);
    };
  const { ledger } = target;
  if (ledger.kind !== "rows") throw new TypeError("no rows");
  return {
    ...target,
    describeTable: mortal(target.describeTable),
    countRows: mortal(target.countRows!),
    ledger: {
      ...ledger,
      records: (shape) => {
        const records = ledger.records(shape);
        return { ...records, insert: mortal(records.insert), insertIfAbsent: mortal(records.insertIfAbsent) };
      },
    },
    execute: mortal(async (action, seen) => {
      if (action.kind !== "dropColumns") return await target.execute(action, seen);
      await append([{ a: 2 }]);
      await (await table()).dropColumns([...action.paths]);
      isDead = true;
      throw dead();
    }),
  };
}

const all = [
  { a: 1, b: 1 },
  { a: 2, b: null },
];

test.each(["a folder", "an object store", "a service"] as const)(
  "in %s the next run restores the table, says so, and drops nothing from then on",
  async (way) => {
    const scene = await aScene({ way });
    expect(await scene.outcome(dyingIn(scene))).toContain("killed");
    await expect((await scene.table()).countRows()).rejects.toThrow("does not contain any data");
    expect(await scene.outcome()).toMatch(
      /^ERR_UNREADABLE: 0002_drawn\.ts, step 1 \(dropColumn\): table t can't be read since t\.a was dropped, .*; version 3 was restored, so nothing is dropped; run the command again$/,
    );
    expect(await scene.rows()).toEqual(all);
    for (let times = 0; times < 2; times++)
      expect(await scene.outcome()).toMatch(
        /^ERR_STEP_(WOULD_FAIL|FAILED): .*could not read the table any more; write another column first/,
      );
    expect(await scene.rows()).toEqual(all);
    await (await scene.table()).update({ where: "b is null", values: { b: 2 } });
    expect(await scene.outcome()).toBe("done");
    expect(await scene.rows()).toEqual([{ b: 1 }, { b: 2 }]);
    await scene.target.close();
  },
);

test("where others have written since, each run names the version to restore, and none restores it", async () => {
  const scene = await aScene();
  await scene.outcome(dyingIn(scene));
  await scene.append([{ b: 3 }]);
  for (let times = 0; times < 2; times++)
    expect(await scene.outcome()).toMatch(
      /^ERR_UNREADABLE: .*its newest version is 5, and nothing was restored, .*: restore version 3 of it/,
    );
  const table = await scene.table();
  expect(await table.version()).toBe(5);
  await table.checkout(3);
  await table.restore();
  await (await scene.table()).update({ where: "b is null", values: { b: 2 } });
  expect(await scene.outcome()).toBe("done");
  expect(await scene.rows()).toEqual([{ b: 1 }, { b: 2 }]);
  await scene.target.close();
});

test("a hook that refuses the migration does not end the look at what a run before has left", async () => {
  const scene = await aScene();
  await scene.outcome(dyingIn(scene));
  const beforeMigration = () => {
    throw new Error("not now");
  };
  // The table is looked at first, and is brought back.
  expect(await scene.outcome(scene.target, { beforeMigration })).toMatch(/^ERR_UNREADABLE: .*version 3 was restored/);
  expect(await scene.rows()).toEqual(all);
  expect(await scene.outcome(scene.target, { beforeMigration })).not.toBe("done");
  expect(await scene.outcome()).toMatch(/^ERR_STEP_(WOULD_FAIL|FAILED)/);
  expect(await scene.rows()).toEqual(all);
  await scene.target.close();
});

test("the run itself looks where its call has no answer", async () => {
  const scene = await aScene();
  const { target, append, table } = scene;
  const unanswered: Target = {
    ...target,
    execute: async (action, seen) => {
      if (action.kind !== "dropColumns") return await target.execute(action, seen);
      await append([{ a: 2 }]);
      await (await table()).dropColumns([...action.paths]);
      throw new Error("no answer");
    },
  };
  expect(await scene.outcome(unanswered)).toMatch(/^ERR_UNREADABLE: .*version 3 was restored/);
  expect(await scene.rows()).toEqual(all);
  expect(await scene.outcome()).toMatch(/^ERR_STEP_WOULD_FAIL/);
  await target.close();
});

test("where it was not this tool that dropped the column of a table with an index, the error names the version to restore", async () => {
  const scene = await aScene({ steps: [create, index] });
  await scene.append([{ a: 2 }]);
  await (await scene.table()).dropColumns(["a"]);
  for (let times = 0; times < 2; times++)
    expect(await scene.outcome()).toMatch(/^ERR_UNREADABLE: table t can't be read, .*: restore version 4 of it/);
  await scene.target.close();
});

test("a table with an index is restored too, though the engine lists no indexes of it", async () => {
  const scene = await aScene({ steps: [create, index] });
  await scene.outcome(dyingIn(scene));
  expect(await scene.outcome()).toMatch(/^ERR_UNREADABLE: .*version 4 was restored/);
  expect(await scene.rows()).toEqual(all);
  expect(await scene.outcome()).toMatch(/^ERR_STEP_WOULD_FAIL/);
  await scene.target.close();
});
