/** What another program makes looks like what a step makes, without its rows or its values. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { plan } from "../../src/commands/plan.ts";
import { repair } from "../../src/features/repair/repair/repair.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { float32, int32, int8, struct, utf8, vector } from "../../src/schema/declare/type-builders.ts";
import { addColumn, createTable, dropColumn, renameTable, retypeColumn } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadAnyTarget } from "../support/any-target.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { leapingOverLeases } from "../support/clocks.ts";
import { temporaryFolder } from "../support/project.ts";
import { casesInTurn, isLong } from "../support/rounds.ts";
import { aService, apiKey } from "../support/service.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";

const inTurn = casesInTurn();

const kinds = ["lance", "rest"] as const;
type Kind = (typeof kinds)[number];

interface Others {
  /** Before the run calls its target for the last migration. */
  readonly before?: (action: Action) => Promise<unknown>;
  /** After that, while the run does not know the answer. */
  readonly after?: (action: Action) => Promise<unknown>;
}

const killed = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "killed" });
/** From there on the run reaches nothing: it ends as if it were killed. */
const dies = async () => {
  throw killed;
};

/** Each list of steps is a migration; all but the last are applied. */
async function aDatabase(kind: Kind, ...migrations: readonly (readonly Step[])[]) {
  const folder = temporaryFolder();
  const { url, data } = kind === "rest" ? await aService() : { url: "", data: folder };
  const files = join(folder, "migrations");
  mkdirSync(files);
  const open = async (): Promise<Target> => {
    const module = await loadAnyTarget(kind);
    const given = kind === "rest" ? { kind, endpoint: url, apiKey, dialect: "namespace" } : { kind, uri: data };
    const target = await module.open(given, { name: "test", folder });
    onTestFinished(() => target.close());
    return target;
  };
  const options = async ({ before, after }: Others = {}): Promise<MigratorOptions> => {
    const target = await open();
    let isDead = false;
    const alive = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      if (isDead) throw killed;
      return await work().catch((error: unknown) => {
        isDead ||= error === killed;
        throw error;
      });
    };
    const execute: Target["execute"] = (action, seen) =>
      alive(async () => {
        await before?.(action);
        const version = await target.execute(action, seen);
        await after?.(action);
        return version;
      });
    const look: Target["describeTable"] = (...given) => alive(() => target.describeTable(...given));
    return {
      target: { ...target, execute, describeTable: look },
      migrations: migrationsIn(files),
      ledger: "_migrations",
      lease: { duration: 30_000, patience: 30_000 },
      ...leapingOverLeases(),
    };
  };
  const caught = (error: unknown) => error as MigrateError;
  const run = async (others?: Others) => await up(await options(others)).catch(caught);
  const back = async (others?: Others) => await down(await options(others), { accept: ["lossy"] }).catch(caught);
  const mark = async (to: string) => await repair(await options(), { yes: true, to });
  const plans = async () => await plan(await options()).catch(caught);
  for (const [index, steps] of migrations.entries()) {
    if (index === migrations.length - 1 && index > 0) expect(await run()).toMatchObject({ applied: index });
    const text = `export const accepts = ["irreversible", "lossy"];\nexport const up = ${JSON.stringify(steps)};\n`;
    writeFileSync(join(files, `000${index + 1}_m.mjs`), text);
  }
  const db = await lancedb.connect(data);
  const handle = async (name = "t") => await db.openTable(name);
  return { data, db, handle, run, back, plans, mark };
}

const columns = { id: int32().notNull(), n: int32() };
const bare = createTable("t", columns);
const own = [
  { id: 1, n: 7 },
  { id: 2, n: null },
];
const filled = createTable("t", columns, { rows: own });

/** As an application does that creates its table if it is absent. */
async function createIfAbsent(data: string, rows: Record<string, unknown>[] = []) {
  const apart = await aDatabase("lance", [bare]);
  await apart.run();
  const schema = await (await apart.handle()).schema();
  const made = await (await lancedb.connect(data)).createEmptyTable("t", schema, { existOk: true });
  if (rows.length > 0) await made.add(rows);
}

test.each(inTurn(kinds))(
  "an empty table that another program creates right before the call is not the step's (%s)",
  async (kind) => {
    const { data, db, run } = await aDatabase(kind, [filled]);
    const error = await run({ before: () => createIfAbsent(data) });
    expect(error).toMatchObject({ code: "ERR_STEP_FAILED", outcome: "failed" });
    expect(String(error)).toContain(
      "table t exists without the 2 rows of this step; another program created it: insert these rows; 0 of 1 action",
    );
    // The same as long as nobody does either.
    expect(await run()).toMatchObject({ code: "ERR_STEP_IMPOSSIBLE", outcome: "refused" });
    await db.dropTable("t");
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await rowsOf(data, "t")).toEqual(own);
  },
);

test.each(inTurn(kinds))(
  "an empty table that another program creates after a kill is not the step's (%s)",
  async (kind) => {
    const { data, run, plans } = await aDatabase(kind, [filled]);
    expect(await run({ before: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
    await createIfAbsent(data);
    for (const error of [await plans(), await run()]) {
      expect(error).toMatchObject({ code: "ERR_STEP_IMPOSSIBLE", outcome: "refused" });
      expect(String(error)).toContain(
        "0001_m.mjs, step 1 (createTable): table t exists without the 2 rows of this step; another program created it: insert these rows; then run it again",
      );
    }
    await addRows(data, "t", own);
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await rowsOf(data, "t")).toEqual(own);
  },
);

test("of a table that was there before, the run says that it does not know its rows", async () => {
  const { data, run } = await aDatabase("lance", [filled]);
  await createIfAbsent(data);
  expect(String(await run())).toContain(
    "if they were there before the migrations and table t has the 2 rows of this step, run migrate baseline --to 0001;",
  );
});

test("as many other rows are not those of the step", async () => {
  const { data, run } = await aDatabase("lance", [filled]);
  const others = own.map(({ id }) => ({ id, n: 8 }));
  const error = await run({ before: () => createIfAbsent(data, others) });
  expect(error).toMatchObject({ code: "ERR_STEP_FAILED" });
  expect(await rowsOf(data, "t")).toEqual(others);
});

/** What applications do to a table as soon as it is there. */
const writes = {
  "write nothing": async () => {},
  append: async (data: string) => await addRows(data, "t", [{ id: 3, n: 9 }]),
  "change all rows": async (data: string) =>
    void (await (await (await lancedb.connect(data)).openTable("t")).update({ values: { n: 1 } })),
  "delete all rows": async (data: string) =>
    void (await (await (await lancedb.connect(data)).openTable("t")).delete("true")),
  "append and clean up": async (data: string) => {
    await addRows(data, "t", [{ id: 3, n: 9 }]);
    const table = await (await lancedb.connect(data)).openTable("t");
    await table.optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
  },
} as const;
const moods = Object.keys(writes) as (keyof typeof writes)[];
/** What a service adds is that it is asked for old versions: for each commit, one mood with them and the one without. */
const servedMoods = isLong ? moods : (["change all rows", "append and clean up"] as const);

test.each([...moods.map((mood) => ["lance", mood] as const), ...servedMoods.map((mood) => ["rest", mood] as const)])(
  "a table that the run created itself (%s) is done where it was killed then and applications %s",
  async (kind, mood) => {
    const { data, run } = await aDatabase(kind, [filled]);
    expect(await run({ after: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
    await writes[mood](data);
    const left = await rowsOf(data, "t");
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await rowsOf(data, "t")).toEqual(left);
  },
);

/** The service has no answer for the call once. */
const loses = () => {
  let calls = 0;
  return async () => {
    if (++calls === 1)
      throw new MigrateError("ERR_ANSWER", { target: "test", request: "r", status: 500, problem: "lost" });
  };
};

test("a table that a service created without an answer is done", async () => {
  const { data, run } = await aDatabase("rest", [filled]);
  expect(await run({ after: loses() })).toMatchObject({ applied: 1 });
  expect(await rowsOf(data, "t")).toEqual(own);
});

test("a table of another program in the place of one whose creation has no answer is not the step's", async () => {
  const { data, run } = await aDatabase("rest", [filled]);
  const answer = loses();
  const error = await run({
    before: async () => {
      await createIfAbsent(data);
      await answer();
    },
  });
  expect(error).toMatchObject({ code: "ERR_STEP_FAILED" });
});

const everyType = {
  id: int32().notNull(),
  s: utf8(),
  f: float32(),
  v: vector(2),
  st: struct({ a: int32(), b: utf8() }),
};
const variety = [
  { id: 1, s: "", f: -0, v: [0.5, 1], st: { a: 1, b: null } },
  { id: 2, s: null, f: null, v: null, st: null },
  { id: 3, s: "naïve", f: 1.1, v: [1, 2], st: { a: null, b: "x" } },
];

test.each(inTurn(kinds))(
  "rows are recognised whatever their types are, also where more steps have run (%s)",
  async (kind) => {
    const { run, handle } = await aDatabase(kind, [
      createTable("t", everyType, { rows: variety }),
      addColumn("t", "more", int32(), { as: "id + 1" }),
      retypeColumn("t", "more", utf8(), { using: "cast(id as string)" }),
    ]);
    let calls = 0;
    const after = async ({ kind: action }: Action) => {
      if (action === "addColumns" && ++calls === 1) await dies();
    };
    expect(await run({ after })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await (await handle()).countRows("more = cast(id as string)")).toBe(3);
  },
);

test("a table that was renamed since is asked for by its new name", async () => {
  const { data, run } = await aDatabase("rest", [filled, renameTable("t", "u")]);
  const after = async ({ kind }: Action) => (kind === "renameTable" ? await dies() : undefined);
  const error = await run({ after });
  if (String(error).includes("ERR_UNSUPPORTED")) return;
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await rowsOf(data, "u")).toEqual(own);
});

const added = addColumn("t", "c", int32(), { as: "id * 2" });
const nulls = "arrow_cast(null, 'Int32')";
const values = async (data: string) => (await rowsOf(data, "t")).map((row) => row["c"]);

test.each(
  (["null", "5"] as const)
    .flatMap((sql) => kinds.map((kind) => [kind, sql] as const))
    // What the column holds and who is asked for it do not depend on each other.
    .filter(([kind, sql]) => isLong || (kind === "lance") === (sql === "null")),
)(
  "a column that another program adds with other values right before the call is not the step's (%s, %s)",
  async (kind, sql) => {
    const { data, handle, run } = await aDatabase(kind, [filled], [added]);
    const valueSql = `nullif(arrow_cast(${sql}, 'Int32'), arrow_cast(id - 100, 'Int32'))`;
    let calls = 0;
    const error = await run({
      before: async () => (++calls === 1 ? await (await handle()).addColumns([{ name: "c", valueSql }]) : undefined),
    });
    expect(error).toMatchObject({ code: "ERR_STEP_FAILED", outcome: "failed" });
    expect(String(error)).toContain(
      "column c of t exists without the values of id * 2; another program added it: update it to these values; 0 of 1 action",
    );
    expect(await run()).toMatchObject({ code: "ERR_STEP_IMPOSSIBLE" });
    await (await handle()).update({ valuesSql: { c: "id * 2" } });
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await values(data)).toEqual([2, 4]);
  },
);

test.each(inTurn(kinds))("a column that another program adds after a kill is not the step's (%s)", async (kind) => {
  const { data, handle, run } = await aDatabase(kind, [filled], [added]);
  expect(await run({ before: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  await (await handle()).addColumns([{ name: "c", valueSql: nulls }]);
  await addRows(data, "t", [{ id: 9, n: 9, c: 18 }]);
  const error = await run();
  expect(error).toMatchObject({ code: "ERR_STEP_IMPOSSIBLE", outcome: "refused" });
  expect(String(error)).toContain(
    "0002_m.mjs, step 1 (addColumn): column c of t exists without the values of id * 2; another program added it: update it to these values; then run it again",
  );
  await (await handle()).dropColumns(["c"]);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await values(data)).toEqual([2, 4, 18]);
});

test("a column that is to be not null and another program adds is not the step's", async () => {
  const { handle, run } = await aDatabase(
    "lance",
    [filled],
    [addColumn("t", "c", int32().notNull(), { as: "id * 2" })],
  );
  expect(await run({ before: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  await (
    await handle()
  ).addColumns([{ name: "c", valueSql: "nullif(arrow_cast(5, 'Int32'), arrow_cast(id - 100, 'Int32'))" }]);
  expect(await run()).toMatchObject({ code: expect.stringMatching(/ERR_STEP_IMPOSSIBLE|ERR_STEP_FAILED/) });
});

const columnMoods = {
  "write nothing": async () => {},
  append: async (data: string) => await addRows(data, "t", [{ id: 3, n: 9 }]),
  "change its values": async (data: string) =>
    void (await (await (await lancedb.connect(data)).openTable("t")).update({ values: { c: 1 } })),
  "append and clean up": writes["append and clean up"],
} as const;

test.each(
  kinds.flatMap((kind, one) =>
    (["id * 2", "nullif(id, 1)", "cast(random() * 9 as int)"] as const).flatMap((as, two) =>
      (["write nothing", "append", "change its values"] as const)
        // For each commit, every expression and every mood once on each.
        .filter((_, three) => isLong || (one + two + three) % 3 === 0)
        .map((mood) => [kind, as, mood] as const),
    ),
  ),
)(
  "a column that the run added itself (%s, as %s) is done where it was killed then and applications %s",
  async (kind, as, mood) => {
    const { data, run } = await aDatabase(kind, [filled], [addColumn("t", "c", int32(), { as })]);
    expect(await run({ after: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
    await columnMoods[mood](data);
    const left = await values(data);
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await values(data)).toEqual(left);
  },
);

test("where the version that added a column is gone and its values were changed, the run says that it does not know them", async () => {
  const { data, run, mark } = await aDatabase("lance", [filled], [added]);
  expect(await run({ after: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  await columnMoods["append and clean up"](data);
  const error = await run();
  expect(error).toMatchObject({ code: "ERR_STEP_IMPOSSIBLE" });
  expect(String(error)).toContain(
    "column c of t exists, and it is unknown whether it was made with the values of id * 2: check it; if it was not, update it to these values; if it was, run migrate repair --yes --to 0002.1",
  );
  expect(await mark("0002.1")).toMatchObject({ done: true });
  expect(await run()).toMatchObject({ applied: 0, total: 2 });
});

test.each([
  [vector(2), "make_array(n, 1)"],
  [struct({ a: int32() }), "named_struct('a', id)"],
  [utf8(), "'it''s'"],
] as const)("a column of the type %j is recognised by its values", async (type, as) => {
  const { run } = await aDatabase("lance", [filled], [addColumn("t", "c", type, { as })]);
  expect(await run({ after: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  expect(await run()).toMatchObject({ applied: 1 });
});

test("a column that another program makes anew after a kill is not the step's", async () => {
  const { handle, run } = await aDatabase(
    "lance",
    [filled],
    [retypeColumn("t", "n", utf8(), { using: "cast(n as string)" })],
  );
  expect(await run({ before: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  const t = await handle();
  await t.dropColumns(["n"]);
  await t.addColumns([{ name: "n", valueSql: "arrow_cast(null, 'Utf8')" }]);
  expect(await run()).toMatchObject({ code: "ERR_STEP_IMPOSSIBLE" });
});

test("a column that the run recreated is done though all versions between the kept one and the last were cleaned up", async () => {
  const retype = retypeColumn("t", "n", int8(), { using: "cast(n as tinyint)" });
  const { data, handle, run } = await aDatabase("lance", [filled], [retype]);
  const after = async (action: Action) => {
    if (action.kind === "alterColumns" && action.alterations.some(({ rename }) => rename === "n")) await dies();
  };
  expect(await run({ after })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  const t = await handle();
  await t.optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
  const versions = (await t.listVersions()).map(({ version }) => version);
  expect(versions).toHaveLength(2);
  expect(versions[0]).toBe(1);
  expect(await run()).toMatchObject({ applied: 1 });
  expect((await rowsOf(data, "t")).map(({ n }) => n)).toEqual([7, null]);
});

test("a column that the run recreated is done where it was killed then", async () => {
  const { data, run } = await aDatabase(
    "lance",
    [filled],
    [retypeColumn("t", "n", utf8(), { using: "cast(n as string)" })],
  );
  const after = async (action: Action) => {
    if (action.kind === "alterColumns" && action.alterations.some(({ rename }) => rename === "n")) await dies();
  };
  expect(await run({ after })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  expect(await run()).toMatchObject({ applied: 1 });
  expect((await rowsOf(data, "t")).map(({ n }) => n)).toEqual(["7", null]);
});

test.each(inTurn(kinds))(
  "a column that another program adds again after a kill is not the restored one (%s)",
  async (kind) => {
    const { data, handle, run, back } = await aDatabase(kind, [filled], [dropColumn("t", "n")]);
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await back({ before: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
    await (await handle()).addColumns([{ name: "n", valueSql: nulls }]);
    const error = await back();
    expect(error).toMatchObject({ code: "ERR_STEP_IMPOSSIBLE", outcome: "refused" });
    expect(String(error)).toContain(
      "table t exists without the rows of version 1; another program changed it: put its columns back, or restore that version",
    );
    await (await handle()).dropColumns(["n"]);
    expect(await back()).toMatchObject({ reverted: 1 });
    expect(await rowsOf(data, "t")).toEqual(own);
  },
);

test.each(inTurn(kinds))(
  "a version that the run restored itself is done where it was killed then (%s)",
  async (kind) => {
    const { data, run, back } = await aDatabase(kind, [filled], [dropColumn("t", "n")]);
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await back({ after: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
    await addRows(data, "t", [{ id: 3, n: 9 }]);
    expect(await back()).toMatchObject({ reverted: 1 });
    expect(await rowsOf(data, "t")).toEqual([...own, { id: 3, n: 9 }]);
  },
);
