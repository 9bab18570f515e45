import { expect, test } from "vitest";
import type { Action, CatchUpColumnAction, PrepareColumnAction } from "../../../../../src/actions/model/action.ts";
import { keptMark, preparedMark, preparedName } from "../../../../../src/actions/rewrite/prepared-columns.ts";
import { catchUpColumn, prepareColumn } from "../../../../../src/features/embed/fill/prepare-column.ts";
import type { PrepareContext } from "../../../../../src/features/embed/fill/prepared-table.ts";
import { RecallTooLow } from "../../../../../src/features/embed/recall/recall-too-low.ts";
import { bitmap, btree } from "../../../../../src/schema/declare/index-builders.ts";
import { sqlPath } from "../../../../../src/schema/sql.ts";
import type { TableSnapshot } from "../../../../../src/targets/contract/target.ts";
import { phases } from "./fill-scene.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { systemClock } from "../../../../../src/time/clock.ts";
import { temporaryFolder } from "../../../../support/project.ts";

const action: PrepareColumnAction = {
  kind: "prepareColumn",
  table: "docs",
  path: "length",
  type: { kind: "int64" },
  from: ["text"],
  key: "id",
  with: "./lengths.ts",
  version: "1",
};

async function aTable() {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const rows = target.rows!;
  const columns = [
    { name: "id", type: { kind: "int64" }, nullable: true },
    { name: "text", type: { kind: "utf8" }, nullable: true },
    { name: "length", type: { kind: "int32" }, nullable: true },
  ] as const;
  await rows.append("docs", { columns, rows: [{ id: 1, text: "a", length: 1 }] });
  const outrun: number[] = [];
  const context: PrepareContext = {
    target,
    rows,
    clock: systemClock,
    signal: undefined,
    isWhole: false,
    mayWrite: async () => {},
    phases,
    outrun: ({ tries }) => outrun.push(tries),
    checkRecall: async () => {},
    ahead: async () => undefined,
    fill: async () => ({ problem: undefined, merges: 0 }),
  };
  return { target, rows, context, outrun };
}

test("how often writes of others have come first is reported", async () => {
  const { target, context, outrun } = await aTable();
  let calls = 0;
  const execute: typeof target.execute = async (action, seen) => {
    if (++calls <= 60) throw new Error("Retryable commit conflict for version 3: please retry");
    return await target.execute(action, seen);
  };
  // Each try takes a second.
  const clock = { ...systemClock, steady: () => calls * 1_000, sleep: async () => {} };
  const prepared = await prepareColumn(action, { ...context, isWhole: true, clock, target: { ...target, execute } });
  expect([prepared.commits, outrun]).toEqual([2, [20, 40, 60]]);
  await target.close();
});

test("calls that fail for another reason are not reported as writes of others", async () => {
  const { target, context, outrun } = await aTable();
  let calls = 0;
  const execute: typeof target.execute = async (action, seen) => {
    calls++;
    if (calls <= 60) throw new Error(calls % 2 === 0 ? "Retryable commit conflict for version 3" : "slow down");
    return await target.execute(action, seen);
  };
  const verdict: typeof target.verdict = (error) =>
    (error as Error).message === "slow down" ? { kind: "throttled" } : target.verdict(error);
  const clock = { ...systemClock, steady: () => calls * 1_000, sleep: async () => {} };
  const prepared = await prepareColumn(action, {
    ...context,
    isWhole: true,
    clock,
    target: { ...target, execute, verdict },
  });
  expect([prepared.commits, outrun]).toEqual([2, [10, 20, 30]]);
  await target.close();
});

test("where rows have no addresses, a shard keeps the hidden columns that another one has added since it looked for them", async () => {
  const scene = await aTable();
  const { target } = scene;
  const rows = { ...scene.rows, version: async () => undefined };
  const context = { ...scene.context, rows };
  let looks = 0;
  const late = {
    ...rows,
    async columns(table: string) {
      const seen = await rows.columns(table);
      if (looks++ === 0) expect(await prepareColumn(action, context)).toMatchObject({ commits: 2 });
      return seen;
    },
  };
  expect(await prepareColumn(action, { ...context, rows: late })).toMatchObject({ commits: 0 });
  await target.close();
});

type Scene = Awaited<ReturnType<typeof aTable>>;

/** A table whose column is prepared by a run that computes all rows. `wanted`: what it wants of the column. */
async function aWhole({ target, rows, context }: Scene, fate: Fate = {}) {
  const done: string[] = [];
  const execute: typeof target.execute = async (own, seen) => {
    if (done.length === fate.killedAfter) throw new Error("killed");
    const version = await target.execute(own, seen);
    done.push(own.kind);
    return version;
  };
  const verdict: typeof target.verdict = (error) =>
    (error as Error).message === "killed" ? { kind: "refused" } : target.verdict(error);
  const mine = { ...context, isWhole: true, target: { ...target, execute, verdict } };
  return {
    done,
    prepare: async (wanted: Partial<PrepareColumnAction> = {}, given: Partial<PrepareContext> = {}) =>
      await prepareColumn({ ...action, ...wanted }, { ...mine, ...given }),
    names: async () => (await rows.columns("docs"))!.map(({ name }) => name),
    indexes: async () =>
      Object.entries(await rows.indexes("docs"))
        .toSorted()
        .map(([name, { path, kind }]) => [name, path, kind]),
  };
}

interface Fate {
  /** After how many of its changes the process is killed. */
  readonly killedAfter?: number | undefined;
}

const next = preparedName("length");
const mark = preparedMark("length");
const own = ["id", "text", "length"];

test("a prepared column of another type is prepared again", async () => {
  const scene = await aTable();
  const { prepare, names } = await aWhole(scene);
  await prepare();
  await prepare({ type: { kind: "utf8" } });
  expect(await names()).toEqual([...own, next, mark]);
  expect((await scene.rows.columns("docs"))![3]).toMatchObject({ type: { kind: "utf8" } });
  await scene.target.close();
});

test("marks of which the column was dropped are those of other values", async () => {
  const scene = await aTable();
  const { prepare, done } = await aWhole(scene);
  await prepare();
  await scene.target.execute(
    { kind: "dropColumns", table: "docs", paths: [next] },
    await scene.target.describeTable("docs"),
  );
  done.length = 0;
  await prepare();
  expect(done).toEqual(["dropColumns", "addColumns", "setMetadata"]);
  await scene.target.close();
});

test("an existing column gets marks, and keeps its place and its indexes", async () => {
  const scene = await aTable();
  const { prepare, names, done } = await aWhole(scene);
  for (let times = 0; times < 2; times++) await prepare({ into: "length", index: { name: "i", ...btree() } });
  expect(await names()).toEqual([...own, mark]);
  expect(done).toEqual(["addColumns"]);
  await scene.target.close();
});

/** Has a prepared column with a value, and one that an application has added since. */
async function aColumnBehind(scene: Scene) {
  await (await aWhole(scene)).prepare();
  await scene.rows.update("docs", "id", { columns: valued, rows: [{ id: 1, [mark]: "m", [next]: 7 }] }, "true");
  const added = { name: "extra", type: { kind: "int32" }, nullable: true } as const;
  await scene.target.execute(
    { kind: "addColumns", table: "docs", columns: [added] },
    await scene.target.describeTable("docs"),
  );
}

const valued = [
  { name: "id", type: { kind: "int64" }, nullable: true },
  { name: mark, type: { kind: "utf8" }, nullable: true },
  { name: next, type: { kind: "int64" }, nullable: true },
] as const;

test("a prepared column comes last again after an application has added one, wherever a run is killed in between", async () => {
  for (let killedAfter = 0; ; killedAfter++) {
    const scene = await aTable();
    await aColumnBehind(scene);
    const killed = await aWhole(scene, { killedAfter });
    const end = await killed.prepare().then(
      () => "well",
      (error: unknown) => (error as Error).message,
    );
    const { prepare, names } = await aWhole(scene);
    await prepare();
    expect({ killedAfter, names: await names() }).toEqual({ killedAfter, names: [...own, "extra", next, mark] });
    const select = [next, mark].map((name) => [name, sqlPath([name])] as const);
    expect(await scene.rows.read("docs", { select })).toMatchObject([{ [next]: 7, [mark]: "m" }]);
    await scene.target.close();
    if (end === "well")
      return expect(killed.done).toEqual(["addColumns", "dropColumns", "alterColumns", "setMetadata"]);
  }
});

test("a shard moves no column, and makes no index", async () => {
  const scene = await aTable();
  await aColumnBehind(scene);
  const { prepare, done } = await aWhole(scene);
  await prepare({ index: { name: "i", ...btree() } }, { isWhole: false });
  expect(done).toEqual([]);
  await scene.target.close();
});

test("a prepared column has the index of the newest form of the step, and other columns keep theirs", async () => {
  const scene = await aTable();
  const { prepare, indexes, done } = await aWhole(scene);
  const other: Action = { kind: "createIndex", table: "docs", name: "a", index: { path: "text", ...btree() } };
  await scene.target.execute(other, await scene.target.describeTable("docs"));
  const theirs = ["a", "text", "btree"];
  await prepare({ index: { name: "i", ...btree() } });
  expect(await indexes()).toEqual([theirs, ["i", next, "btree"]]);
  done.length = 0;
  await prepare({ index: { name: "i", ...btree() } });
  expect(done).toEqual([]);
  await prepare({ index: { name: "i", ...bitmap() } });
  expect(await indexes()).toEqual([theirs, ["i", next, "bitmap"]]);
  await prepare({ index: { name: "j", ...bitmap() } });
  expect(await indexes()).toEqual([theirs, ["j", next, "bitmap"]]);
  await prepare();
  expect(await indexes()).toEqual([theirs]);
  await scene.target.close();
});

test("if a column is dropped while its index is created, the run ends, and leaves no index", async () => {
  const scene = await aTable();
  const { target, rows } = scene;
  const { prepare, indexes } = await aWhole(scene);
  let isCreated = false;
  const dropping = {
    ...target,
    async execute(own: Action, seen: TableSnapshot | undefined) {
      const version = await target.execute(own, seen);
      isCreated ||= own.kind === "createIndex";
      return version;
    },
  };
  // The index is there, and the column is not.
  const columns: typeof rows.columns = async (table) =>
    (await rows.columns(table))!.filter(({ name }) => !isCreated || name !== next);
  const index = { name: "i", ...btree() };
  await expect(prepare({ index }, { target: dropping, rows: { ...rows, columns } })).rejects.toThrow(
    `${next} was dropped while its index was created`,
  );
  expect(await indexes()).toEqual([]);
  await target.close();
});

const condition = { minRecall: 0.9, k: 10, sample: 5 };
const checked = {
  kind: "checkRecall",
  table: "docs",
  name: "i",
  index: { path: "length", ...btree() },
  ...condition,
} as const;
const tooLow = new RecallTooLow(checked, { recall: 0.5, sampled: 5, indexMilliseconds: 1, exactMilliseconds: 1 });

test("the recall of an index is checked once for each condition", async () => {
  const scene = await aTable();
  const { prepare } = await aWhole(scene);
  const checks: unknown[] = [];
  const checkRecall: PrepareContext["checkRecall"] = async (check, path) => void checks.push([check.minRecall, path]);
  const index = { name: "i", ...btree() };
  for (const minRecall of [0.9, 0.9, 0.95, 0.95])
    await prepare({ index, condition: { ...condition, minRecall } }, { checkRecall });
  expect(checks).toEqual([
    [0.9, next],
    [0.95, next],
  ]);
  await scene.target.close();
});

test.each([
  ["finds too little is dropped", tooLow, []],
  ["can't be checked stays, and is checked by the next run", new Error("interrupted"), [["i", next, "btree"]]],
])("an index that %s", async (_, problem, left) => {
  const scene = await aTable();
  const { prepare, indexes } = await aWhole(scene);
  const wanted = { index: { name: "i", ...btree() }, condition };
  await expect(prepare(wanted, { checkRecall: () => Promise.reject(problem) })).rejects.toBe(problem);
  expect(await indexes()).toEqual(left);
  let checks = 0;
  await prepare(wanted, { checkRecall: async () => void checks++ });
  expect(checks).toBe(1);
  await scene.target.close();
});

test("indexes on other columns cover merged rows again, and only if there are some", async () => {
  const scene = await aTable();
  const { prepare, done } = await aWhole(scene);
  const fillOf = (merges: number) => ({ fill: async () => ({ problem: undefined, merges }) });
  await prepare({ index: { name: "i", ...btree() } }, fillOf(1));
  done.length = 0;
  await prepare({ index: { name: "i", ...btree() } }, fillOf(1));
  const other: Action = { kind: "createIndex", table: "docs", name: "a", index: { path: "text", ...btree() } };
  await scene.target.execute(other, await scene.target.describeTable("docs"));
  await prepare({ index: { name: "i", ...btree() } }, fillOf(0));
  expect(done).toEqual([]);
  await prepare({ index: { name: "i", ...btree() } }, fillOf(1));
  expect(done).toEqual(["optimizeTable"]);
  await scene.target.close();
});

test("each change is made only while the run may write, and its versions are counted", async () => {
  const scene = await aTable();
  const { prepare, done } = await aWhole(scene);
  let asked = 0;
  const wanted = { index: { name: "i", ...btree() } };
  const before = (await scene.rows.version("docs"))!;
  const { commits } = await prepare(wanted, { mayWrite: async () => void asked++ });
  expect([asked, commits]).toEqual([done.length, (await scene.rows.version("docs"))! - before]);
  await expect(prepare({}, { mayWrite: () => Promise.reject(new Error("no lease")) })).rejects.toThrow("no lease");
  await scene.target.close();
});

test("a change that another process has made meanwhile is not made again, and is no failure", async () => {
  const scene = await aTable();
  const { target } = scene;
  const { prepare } = await aWhole(scene);
  const execute: typeof target.execute = async (own, seen) => {
    await target.execute(own, seen);
    throw new Error("the column is there");
  };
  expect(await prepare({}, { target: { ...target, execute, verdict: () => ({ kind: "refused" }) } })).toMatchObject({
    commits: 0,
  });
  await target.close();
});

test("the marks of a column that has caught up stay under the name of another column, and show a later run what to compute", async () => {
  const scene = await aTable();
  const { target, rows, context } = scene;
  const { names, prepare } = await aWhole(scene);
  const computed: unknown[] = [];
  const fill: PrepareContext["fill"] = async ({ path, mark: named, overwrite }) => {
    computed.push([path, named, overwrite]);
    return { problem: undefined, merges: 2 };
  };
  const catchUp = async (how: Pick<CatchUpColumnAction, "keep" | "was" | "isLater">) =>
    await catchUpColumn({ ...action, ...how, kind: "catchUpColumn" }, { ...context, target, rows, fill });
  await prepare();
  expect(await catchUp({ keep: "text" })).toEqual({ problem: undefined, commits: 3 });
  expect(await catchUp({ keep: "text" })).toEqual({ problem: undefined, commits: 2 });
  await prepare({ path: "other", into: "text" });
  // A later run does not take the marks of a migration that prepares the column.
  expect(await catchUp({ keep: "text", was: "text", isLater: true })).toMatchObject({ commits: 2 });
  expect(await catchUp({ keep: "length", was: "text" })).toMatchObject({ commits: 3 });
  expect(computed).toEqual([
    ["length", mark, false],
    ["length", keptMark("text"), false],
    ["length", keptMark("text"), false],
    ["length", preparedMark("text"), false],
  ]);
  expect(await names()).toEqual([...own, next, keptMark("text"), keptMark("length")]);
  await target.close();
});
