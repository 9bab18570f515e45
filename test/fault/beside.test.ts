/** What an application does to a table between two commits of a step. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Index, type Connection, type Table } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import { systemClock } from "../../src/time/clock.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { up } from "../../src/commands/up.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { repair } from "../../src/features/repair/repair/repair.ts";
import type { Action, ActionKind } from "../../src/actions/model/action.ts";
import { int16, int32, int64, largeUtf8, utf8 } from "../../src/schema/declare/type-builders.ts";
import { fts } from "../../src/schema/declare/index-builders.ts";
import {
  addColumn,
  alterColumns,
  createIndex,
  createTable,
  dropIndex,
  execute,
  retypeColumn,
  setNullable,
} from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadTarget } from "../../src/targets/index.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { leapingOverLeases } from "../support/clocks.ts";
import { temporaryFolder } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { belongingsOf, columnsOf as columnsIn, lancedb, rowsOf } from "../support/tables.ts";

interface World {
  readonly folder: string;
  /** Runs `up`; `meet` happens once, after the first action of that kind, or before it. */
  run(kind?: ActionKind, meet?: (table: Table) => Promise<unknown>, when?: "before" | "after"): Promise<unknown>;
  /** The steps of the second migration. */
  write(...steps: readonly Step[]): void;
  repair(to?: string): Promise<unknown>;
  /** Runs `up` on what `wrap` makes of the target. */
  through(wrap: (target: Target) => Target): Promise<unknown>;
}

async function aWorld(
  columns: Parameters<typeof createTable>[1],
  rows: readonly object[],
  step: Step,
  more: Partial<MigratorOptions> = {},
): Promise<World> {
  const folder = temporaryFolder();
  const migrations = join(folder, "migrations");
  mkdirSync(migrations);
  const toFile = (file: string, ...up: readonly Step[]) =>
    writeFileSync(join(migrations, file), `export const up = ${JSON.stringify(up)};\n`);
  const write: World["write"] = (...steps) => toFile("0002_step.mjs", ...steps);
  const withTarget = async (work: (options: MigratorOptions) => Promise<unknown>): Promise<unknown> => {
    const module = (await loadTarget("lance"))!;
    const target = await module.open({ kind: "lance", uri: folder }, { name: "beside", folder });
    const options = { target, migrations: migrationsIn(migrations), ledger: "_migrations" };
    try {
      return await work({ ...options, lease: { duration: 30_000, patience: 5_000 }, ...leapingOverLeases(), ...more });
    } catch (error) {
      return error;
    } finally {
      await target.close();
    }
  };
  const run: World["run"] = async (kind, meet, when = "after") =>
    await withTarget(async ({ target, ...options }) => {
      const met = async () => await meet!(await open(folder));
      return await up({ ...options, target: kind === undefined ? target : meeting(target, kind, when, met) });
    });
  const repaired = async (to?: string) => await withTarget(async (options) => await repair(options, { yes: true, to }));
  toFile("0001_before.mjs", createTable("t", columns));
  await run();
  await (await open(folder)).add(rows as Record<string, unknown>[]);
  write(step);
  const through: World["through"] = async (wrap) =>
    await withTarget(async ({ target, ...options }) => await up({ ...options, target: wrap(target) }));
  return { folder, run, write, repair: repaired, through };
}

async function open(folder: string): Promise<Table> {
  const db: Connection = await lancedb.connect(folder);
  return await db.openTable("t");
}

/** What `meet` throws is thrown ever after. */
function meeting(
  target: Target,
  wanted: ActionKind,
  wantedWhen: "before" | "after",
  meet: () => Promise<unknown>,
): Target {
  let met = false;
  let dead: unknown;
  const at = async ({ kind }: Action, when: "before" | "after"): Promise<void> => {
    if (met || kind !== wanted || when !== wantedWhen) return;
    met = true;
    await meet().catch((error) => {
      dead = error;
      throw error;
    });
  };
  return {
    ...target,
    async describeTable(...asked) {
      if (dead !== undefined) throw dead;
      return await target.describeTable(...asked);
    },
    async execute(action: Action, seen) {
      await at(action, "before");
      const version = await target.execute(action, seen);
      await at(action, "after");
      return version;
    },
  };
}

const rows = [
  { id: 1, s: "1" },
  { id: 2, s: "2" },
];
const anew = retypeColumn("t", "s", int64(), { using: "cast(s as bigint)" });
const columns = { id: int32().notNull(), s: utf8() };

test("an index that an application makes while its column is retyped is there when it is", async () => {
  const numbers = { id: int32().notNull(), s: int32() };
  const { folder, run } = await aWorld(numbers, [{ id: 1, s: 1 }], retypeColumn("t", "s", int64()));
  expect(await run("addColumns", async (table) => await table.createIndex("s"))).toMatchObject({ applied: 1 });
  expect(await columnsIn(folder, "t")).toEqual(["id: int32 not null", "s: int64"]);
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: { s_idx: { kind: "btree" } } });
});

test("an update right after a column was added is in it when it takes the place of the old one", async () => {
  const { folder, run } = await aWorld(columns, rows, anew);
  const update = async (table: Table) => await table.update({ valuesSql: { s: "'999'" }, where: "id = 1" });
  expect(await run("addColumns", update)).toMatchObject({ applied: 1 });
  expect((await rowsOf(folder, "t")).map((row) => Number(row["s"])).toSorted()).toEqual([2, 999]);
});

test("where such an update can't be worked out, the table is as it was", async () => {
  const { folder, run } = await aWorld(columns, rows, anew);
  const failed = await run(
    "addColumns",
    async (table) => await table.update({ valuesSql: { s: "'abc'" }, where: "id = 1" }),
  );
  expect(failed).toMatchObject({ code: "ERR_STEP_FAILED" });
  expect(await columnsIn(folder, "t")).toEqual(["id: int32 not null", "s: utf8"]);
  await (await open(folder)).add([{ id: 3, s: "3" }]);
});

const dies = async () => {
  throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "beside", problem: "it died" });
};

test("a step that was stopped between two of its commits is not gone on with by another", async () => {
  const { folder, run, write } = await aWorld(columns, rows, anew);
  expect(await run("addColumns", dies)).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  const between = await columnsIn(folder, "t");
  expect(between).toHaveLength(4);
  write(retypeColumn("t", "s", int64(), { using: "cast(s as bigint) * 100" }));
  expect(await run()).toMatchObject({
    code: "ERR_MIGRATION_CHANGED",
    message: expect.stringContaining("step 1 is between two of its commits, and another step cannot continue it"),
  });
  expect(await columnsIn(folder, "t")).toEqual(between);
  write(anew);
  expect(await run()).toMatchObject({ applied: 1 });
  expect((await rowsOf(folder, "t")).map((row) => Number(row["s"])).toSorted()).toEqual([1, 2]);
});

test("one that was rolled back can be mended", async () => {
  const { folder, run, write } = await aWorld(columns, rows, anew);
  const text = async (table: Table) => await table.update({ valuesSql: { s: "'abc'" }, where: "id = 1" });
  expect(await run("addColumns", text)).toMatchObject({ code: "ERR_STEP_FAILED" });
  write(retypeColumn("t", "s", int64(), { using: "cast(nullif(s, 'abc') as bigint)" }));
  expect(await run()).toMatchObject({ applied: 1 });
  expect((await rowsOf(folder, "t")).map((row) => row["s"] ?? null).toSorted()).toEqual([2, null]);
});

test("one that is stopped once more, right after the commit that makes the table look as it did, is not done twice", async () => {
  const numbers = { id: int32().notNull(), n: int32() };
  const { folder, run } = await aWorld(numbers, [{ id: 1, n: 5 }], retypeColumn("t", "n", int32(), { using: "n * 2" }));
  expect(await run("dropColumns", dies)).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  expect(await run("alterColumns", dies)).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await rowsOf(folder, "t")).toEqual([{ id: 1, n: 10 }]);
});

const numbers = { id: int32().notNull(), n: int32() };
const wider = retypeColumn("t", "n", int64());

test("an edit between two commits is the file's, also where steps before it ran, and an application's index comes back", async () => {
  const first = addColumn("t", "x", int32());
  const { folder, run, write } = await aWorld(numbers, [{ id: 1, n: 5 }], wider);
  await (await open(folder)).createIndex("n");
  write(first, wider);
  expect(await run("dropIndex", dies)).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  write(first, retypeColumn("t", "n", int16()));
  expect(await run()).toMatchObject({ code: "ERR_MIGRATION_CHANGED" });
  write(first, wider);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await columnsIn(folder, "t")).toEqual(["id: int32 not null", "x: int32", "n: int64"].toSorted());
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: { n_idx: { kind: "btree" } } });
});

test.each([
  { what: "first", steps: [wider] },
  { what: "second", steps: [addColumn("t", "x", int32()), wider] },
])("a repair between two commits of the $what step goes on to know what must be put back", async ({ steps }) => {
  const { folder, run, write, repair } = await aWorld(numbers, [{ id: 1, n: 5 }], wider);
  await (await open(folder)).createIndex("n");
  write(...steps);
  expect(await run("dropIndex", dies)).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  const ledger = await (await lancedb.connect(folder)).openTable("_migrations");
  await ledger.update({ where: "event = 'applied'", values: { duration: "99999" } });
  expect(await repair()).toMatchObject({ done: true });
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: { n_idx: { kind: "btree" } } });
});

test("what an application sets after a step was noted and before its first commit is kept", async () => {
  const { folder, run } = await aWorld(numbers, [{ id: 1, n: 5 }], wider);
  const setUnit = async (unit: string) =>
    await (await open(folder)).updateFieldMetadata([{ path: "n", metadata: { unit } }]);
  await (await open(folder)).createIndex("n");
  await setUnit("word");
  expect(await run("dropIndex", dies, "before")).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  await setUnit("letter");
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({
    indexes: { n_idx: { kind: "btree" } },
    metadata: { n: { unit: "letter" } },
  });
});

test("an index that an application has made again with other parameters than a migration's keeps them", async () => {
  const text = { id: int32().notNull(), s: utf8() };
  const large = retypeColumn("t", "s", largeUtf8());
  const { folder, run, write } = await aWorld(text, [{ id: 1, s: "der Hund" }], createIndex("t", "s", fts()));
  await run();
  const config = Index.fts({ language: "German", customStopWords: ["hund"] });
  await (await open(folder)).createIndex("s", { config, replace: true });
  write(createIndex("t", "s", fts()));
  writeFileSync(join(folder, "migrations", "0003_large.mjs"), `export const up = ${JSON.stringify([large])};\n`);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({
    indexes: { s_idx: { options: { language: "German", customStopWords: ["hund"] } } },
  });
});

test("an index that an application makes again before the last commit does not make a step begin anew", async () => {
  const doubled = retypeColumn("t", "n", int32(), { using: "n * 2" });
  const { folder, run } = await aWorld(numbers, [{ id: 1, n: 5 }], doubled);
  await (await open(folder)).createIndex("n");
  const makes = async (table: Table) => {
    await table.createIndex("n");
    await dies();
  };
  expect(await run("alterColumns", makes)).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await rowsOf(folder, "t")).toEqual([{ id: 1, n: 10 }]);
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: { n_idx: { kind: "btree" } } });
});

test("what a release left half-done that another does not have the file of is not passed over, while none is at it", async () => {
  const strict = setNullable("t", "n", false);
  // One run waits until the other, which is alive, renews its lease: after a third of it.
  const live = { clock: systemClock, lease: { duration: 6_000, patience: 5_000 } };
  const { folder, run, write } = await aWorld(numbers, [{ id: 1 }], addColumn("t", "x", int32()), live);
  // The update between them makes it unknown before the run whether nulls are left.
  const fill = execute("t", { update: { n: "0" }, where: "n is null and id > 5" });
  write(addColumn("t", "x", int32()), fill, strict);
  const file = join(folder, "migrations", "0002_step.mjs");
  const without = async () => {
    renameSync(file, `${file}.away`);
    const ended = await run();
    renameSync(`${file}.away`, file);
    return ended;
  };
  let beside: unknown;
  expect(await run("addColumns", async () => void (beside = await without()))).toMatchObject({
    code: "ERR_STEP_FAILED",
  });
  expect(beside).toMatchObject({ applied: 0 });
  const refused = { code: "ERR_BEGUN", message: expect.stringContaining("0002_step was begun but not finished") };
  expect(await without()).toMatchObject(refused);
  await (await open(folder)).update({ values: { n: "1" } });
  expect(await run()).toMatchObject({ applied: 1 });
});

const counts = [
  { id: 1, n: 5 },
  { id: 2, n: 6 },
];
const counted = { id: int32().notNull(), n: int32() };
const doubled = retypeColumn("t", "n", int64(), { using: "n * 2" });
const widened = retypeColumn("t", "n", int64());
const index = async (table: Table) => await table.createIndex("n");
const indexed = { n_idx: { kind: "btree" } };
const unit = (value: string) => async (table: Table) =>
  await table.updateFieldMetadata([{ path: "n", metadata: { unit: value } }]);
const valuesIn = async (folder: string) =>
  (await rowsOf(folder, "t")).map((row) => Number(row["n"])).toSorted((one, other) => one - other);

test.each([
  ["by the same run", false],
  ["by the next one", true],
])("an update between two other commits of a column that is not null is worked out again %s", async (_, isKilled) => {
  const { folder, run } = await aWorld({ ...counted, n: int32().notNull() }, counts, doubled);
  const update = async (table: Table) => await table.update({ valuesSql: { n: "100" }, where: "id = 1" });
  const first = await run("addColumns", isKilled ? dies : update);
  if (isKilled) await update(await open(folder));
  expect(isKilled ? await run() : first).toMatchObject({ applied: 1 });
  expect(await valuesIn(folder)).toEqual([12, 200]);
});

test("a column that was renamed and retyped, with an application's index made again, is found done", async () => {
  const step = alterColumns("t", [{ path: "n", rename: "m", type: int64() }]);
  const { folder, run } = await aWorld(counted, counts, step);
  await index(await open(folder));
  await run("createIndex", dies);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: { n_idx: { path: "m" } } });
});

test.each([
  ["worked out anew", doubled],
  ["retyped", widened],
])("what an application gives a column while it is %s is there when it is, also of the next run", async (_, step) => {
  for (const isKilled of [false, true]) {
    const { folder, run } = await aWorld(counted, counts, step);
    const give = async (table: Table) => {
      await index(table);
      await unit("word")(table);
    };
    const first = await run("addColumns", isKilled ? dies : give);
    if (isKilled) await give(await open(folder));
    expect(isKilled ? await run() : first).toMatchObject({ applied: 1 });
    expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: indexed, metadata: { n: { unit: "word" } } });
  }
});

const commitsOfStep = ["dropIndex", "addColumns", "alterColumns", "setMetadata", "dropColumns", "createIndex"] as const;

test.each(ofThisCommit(commitsOfStep, 2))(
  "an application may change its own metadata after a run was killed right after its %s",
  async (kind) => {
    const { folder, run } = await aWorld(counted, counts, widened);
    await index(await open(folder));
    await unit("word")(await open(folder));
    await run(kind, dies);
    await unit("letter")(await open(folder));
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: indexed, metadata: { n: { unit: "letter" } } });
  },
);

test("an application may drop its own index between two commits, and it does not come back", async () => {
  const { folder, run } = await aWorld(counted, counts, doubled);
  await index(await open(folder));
  await run("addColumns", dies);
  await (await open(folder)).dropIndex("n_idx");
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: {} });
});

test("what an application does while the first commit is under way is no drift", async () => {
  const retyped = await aWorld(counted, counts, widened);
  await index(await open(retyped.folder));
  await unit("word")(await open(retyped.folder));
  expect(await retyped.run("dropIndex", unit("letter"), "before")).toMatchObject({ applied: 1 });
  expect(await belongingsOf(retyped.folder, "t")).toMatchObject({
    indexes: indexed,
    metadata: { n: { unit: "letter" } },
  });
  const anew = await aWorld(counted, counts, doubled);
  await index(await open(anew.folder));
  const drop = async (table: Table) => await table.dropIndex("n_idx");
  expect(await anew.run("addColumns", drop, "before")).toMatchObject({ applied: 1 });
  expect(await valuesIn(anew.folder)).toEqual([10, 12]);
});

test("what was made beside the first commit leaves the step in doubt, and it is gone on with when that is put back", async () => {
  const { folder, run } = await aWorld(counted, counts, widened);
  await index(await open(folder));
  const add = async (table: Table) => await table.addColumns([{ name: "theirs", valueSql: "1" }]);
  expect(await run("dropIndex", add, "before")).toMatchObject({ code: "ERR_UNEXPECTED_RESULT" });
  await (await open(folder)).dropColumns(["theirs"]);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: indexed });
});

const damage = async (folder: string) =>
  await (
    await (await lancedb.connect(folder)).openTable("_migrations")
  ).update({
    where: "event = 'applied'",
    values: { duration: "99999" },
  });

test.each(["addColumns", "alterColumns", "dropColumns"] as const)(
  "a ledger that is rebuilt where a run was killed after its %s still knows what must be put back",
  async (kind) => {
    const { folder, run, repair } = await aWorld(counted, counts, widened);
    await index(await open(folder));
    await run(kind, dies);
    await damage(folder);
    expect(await repair()).toMatchObject({ does: "rebuild", done: true });
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: indexed });
    expect(await valuesIn(folder)).toEqual([5, 6]);
  },
);

test("who brings back the table as it was before a step that had begun says so with repair --to", async () => {
  const same = retypeColumn("t", "n", int32(), { using: "n * 2" });
  const { folder, run, repair } = await aWorld(counted, counts, same);
  const version = await (await open(folder)).version();
  await run("alterColumns", dies);
  const table = await open(folder);
  await table.checkout(version);
  await table.restore();
  await repair("1");
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await valuesIn(folder)).toEqual([10, 12]);
});

test.each([
  ["a nullable column", counted, "addColumns", undefined],
  ["a nullable column with another index", counted, "addColumns", "a_idx"],
  ["a column that is not null", { ...counted, n: int32().notNull() }, "alterColumns", undefined],
] as const)("an index that comes while others append without pause does not end the retype of %s", async (...given) => {
  const [, columns, kind, name] = given;
  const { folder, through } = await aWorld(columns, counts, widened);
  if (name !== undefined) await (await open(folder)).createIndex("n", { name });
  let tries = 0;
  const ended = await through((target) => ({
    ...target,
    async execute(action, seen) {
      if (action.kind === kind && tries < 5) {
        const table = await open(folder);
        await table.add([{ id: 10 + tries, n: 7 }]);
        if (++tries === 5) await index(table);
      }
      return await target.execute(action, seen);
    },
  }));
  expect(ended).toMatchObject({ applied: 1 });
  expect((await columnsIn(folder, "t"))[1]).toMatch(/^n: int64/);
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: indexed });
});

test("metadata that is all that a retype lost may change after its last commit", async () => {
  const { folder, run, repair } = await aWorld(counted, counts, widened);
  await unit("word")(await open(folder));
  await run("dropColumns", dies);
  await unit("letter")(await open(folder));
  expect(await repair()).toMatchObject({ does: "nothing" });
  await damage(folder);
  expect(await repair()).toMatchObject({ does: "rebuild", done: true });
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ metadata: { n: { unit: "letter" } } });
});

test("metadata that comes right before a cast, which is refused for it, is kept", async () => {
  for (const n of [int32(), int32().notNull()]) {
    const { folder, through } = await aWorld({ ...counted, n }, counts, widened);
    let met = false;
    const ended = await through((target) => ({
      ...target,
      async execute(action, seen) {
        if (action.kind === "alterColumns" && !met) await unit("word")(await open(folder));
        met ||= action.kind === "alterColumns";
        return await target.execute(action, seen);
      },
    }));
    expect(ended).toMatchObject({ applied: 1 });
    expect(await belongingsOf(folder, "t")).toMatchObject({ metadata: { n: { unit: "word" } } });
  }
});

test("what an application gives a column while its values are worked out again is there when they are", async () => {
  const { folder, run } = await aWorld(counted, counts, doubled);
  await run("addColumns", dies);
  const give = async (table: Table) => {
    await index(table);
    await unit("word")(table);
  };
  expect(await run("updateRows", give)).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: indexed, metadata: { n: { unit: "word" } } });
  expect(await valuesIn(folder)).toEqual([10, 12]);
});

test("a later step may drop the application's index that a step in the middle has dropped for now", async () => {
  const { folder, run, write } = await aWorld(counted, counts, widened);
  await index(await open(folder));
  write(widened, dropIndex("t", "n_idx"));
  await run("addColumns", dies);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: {} });
});

test.each([
  ["a new one", false],
  ["one that was dropped for it as well", true],
])("an index that does not go with the new type stops the step, which rolls back what it did: %s", async (_, isTwo) => {
  const { folder, run } = await aWorld(columns, rows, retypeColumn("t", "s", largeUtf8()));
  const bitmap = async (table: Table) => await table.createIndex("s", { config: Index.bitmap(), name: "s_a" });
  const btree = async (table: Table) => await table.createIndex("s", { config: Index.btree(), name: "s_b" });
  await bitmap(await open(folder));
  const give = async (table: Table) => {
    if (isTwo) await bitmap(table);
    await btree(table);
  };
  expect(await run("addColumns", give)).toMatchObject({ code: "ERR_INDEX" });
  expect(await columnsIn(folder, "t")).toEqual(["id: int32 not null", "s: utf8"]);
  await (await open(folder)).dropIndex("s_b");
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await columnsIn(folder, "t")).toEqual(["id: int32 not null", "s: largeUtf8"]);
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: { s_a: { kind: "bitmap" } } });
});
