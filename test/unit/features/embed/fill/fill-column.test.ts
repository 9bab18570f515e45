import { Field, Int32, Int64, Schema } from "apache-arrow";
import { expect, test } from "vitest";
import type { FillColumnAction } from "../../../../../src/actions/model/action.ts";
import { stagingName, stagingsOf } from "../../../../../src/features/embed/compute/staging-name.ts";
import type { Compute } from "../../../../../src/features/embed/compute/compute-all.ts";
import type { Outrun } from "../../../../../src/run/events.ts";
import type { RowAccess } from "../../../../../src/targets/contract/row-access.ts";
import { lancedb } from "../../../../support/tables.ts";
import { aScene, failingAfter, lengths, staging, type Given, type Row } from "./fill-scene.ts";

type Scene = Awaited<ReturnType<typeof aScene>>;
type Docs = Awaited<ReturnType<Scene["docs"]>>;

const texts: readonly Row[] = ["a", "bb", null, "dddd"].map((text, id) => ({ id, text }));
const many: readonly Row[] = Array.from({ length: 60 }, (_, id) => ({ id, text: "x".repeat(id) }));
const one = { batch: 1, concurrency: 1 };

test("after a pause, rows that were written meanwhile are computed, and failed rows are not computed again", async () => {
  const scene = await aScene(texts);
  const added = { id: 4, text: "eeeee" };
  const compute: Compute = async (rows) => {
    if (rows.some(({ text }) => text === "bb")) throw new Error("no");
    return await lengths(rows);
  };
  const pause = async () => await scene.add([added]);
  const { problem } = await scene.run({ failedRows: "leave", ...one }, { compute, pause });
  expect(await scene.lengths()).toEqual([1, null, null, 4, 5]);
  expect(problem?.rows).toBe(1);
});

test("a merge before which others' commits came first as long as the engine tried is made again, and reported", async () => {
  const scene = await aScene(texts);
  const starved = new Error("Failed to execute merge insert: Too many concurrent writers. Attempted 10 retries.");
  let merges = 0;
  const update: RowAccess["update"] = async (...given) => {
    if (++merges <= 2) throw starved;
    return await scene.access.update(...given);
  };
  const reports: Outrun[] = [];
  const outrun = (how: Outrun) => void reports.push(how);
  expect(await scene.run({}, { rows: { ...scene.access, update }, outrun })).toEqual({ problem: undefined, merges: 1 });
  expect(await scene.lengths()).toEqual([1, 2, null, 4]);
  expect(reports).toMatchObject([{ tries: 1, text: "merge of 4 rows" }]);

  const always: RowAccess["update"] = async () => await Promise.reject(starved);
  await scene.add([{ id: 4, text: "eeeee" }]);
  await expect(scene.run({}, { rows: { ...scene.access, update: always }, outrun })).rejects.toBe(starved);
  expect(reports).toHaveLength(2);
  // What was computed is merged by the next run.
  scene.computed.length = 0;
  await scene.run();
  expect(await scene.lengths()).toEqual([1, 2, null, 4, 5]);
  expect(scene.computed).toEqual([]);
});

test("rows of a column in use whose sources others keep changing are reported", async () => {
  const scene = await aScene(texts);
  await scene.run();
  const docs = await scene.docs();
  let isPaused = false;
  const change = async () => void (await docs.update({ where: "id = 0", values: { text: `a${performance.now()}` } }));
  const changing: Compute = async (rows) => {
    if (isPaused) await change();
    return await lengths(rows);
  };
  await change();
  const pause = async () => {
    isPaused = true;
    await change();
  };
  const { problem } = await scene.run({}, { compute: changing, inUse: true, pause });
  const text = "others kept changing what it is computed from, and migrate up computes it later";
  expect(problem).toEqual({ rows: 1, text });
});

test("a column in use keeps the values of applications, and gets those that are missing or outdated", async () => {
  const scene = await aScene(texts);
  await scene.run();
  const docs = await scene.docs();
  await docs.update({ where: "id = 0", values: { text: "aaa" } });
  await docs.update({ where: "id = 1", values: { text: "bbb", length: 30 } });
  await scene.add([
    { id: 4, text: "e" },
    { id: 5, text: "f", length: 60 },
  ]);
  scene.computed.length = 0;
  expect(await scene.run({}, { inUse: true })).toMatchObject({ problem: undefined });
  expect(await scene.lengths()).toEqual([3, 30, null, 4, 1, 60]);
  expect(scene.computed.toSorted()).toEqual(["aaa", "e"]);
});

test("a row of a column in use for which the code failed is computed again by a later run", async () => {
  const scene = await aScene(texts);
  await scene.run();
  await scene.add([{ id: 4, text: "eeeee" }]);
  const failing: Compute = async () => {
    throw new Error("not today");
  };
  const failed = await scene.run({ failedRows: "leave" }, { compute: failing, inUse: true });
  expect(failed.problem).toMatchObject({ rows: 1 });
  expect(await scene.run({}, { inUse: true, keepsFailed: true })).toMatchObject({ merges: 0 });
  await scene.run({}, { inUse: true });
  expect(await scene.lengths()).toEqual([1, 2, null, 4, 5]);
});

test("a value that an application gives a row for which the code failed, or gave none, is kept", async () => {
  const scene = await aScene(texts);
  await scene.run();
  await scene.add([{ id: 4, text: "eeeee" }]);
  const failing: Compute = async () => {
    throw new Error("not today");
  };
  await scene.run({ failedRows: "leave" }, { compute: failing, inUse: true });
  const docs = await scene.docs();
  await docs.update({ where: "id = 4", values: { length: 50 } });
  await docs.update({ where: "id = 2", values: { text: "ccc", length: 30 } });
  const again = { compute: failing, inUse: true };
  expect(await scene.run({ failedRows: "leave" }, again)).toMatchObject({ merges: 0 });
  await docs.update({ where: "id = 4", values: { text: "eee", length: 31 } });
  expect(await scene.run({ failedRows: "leave" }, again)).toMatchObject({ merges: 0 });
  expect(await scene.lengths()).toEqual([1, 2, 30, 4, 31]);
});

test("if nothing is to be computed, the table is left alone", async () => {
  const scene = await aScene(texts);
  await scene.run();
  const before = await scene.access.version("docs");
  expect(await scene.run()).toEqual({ merges: 0, problem: undefined });
  expect(await scene.access.version("docs")).toBe(before);
});

test("rows for which the code has just failed are not computed again", async () => {
  const scene = await aScene(texts);
  const compute: Compute = async () => Promise.reject(new Error("no"));
  await scene.run({ failedRows: "leave" }, { compute });
  expect(await scene.run({ failedRows: "leave" }, { keepsFailed: true })).toMatchObject({ merges: 0 });
  expect(scene.computed).toEqual([]);
});

test("SQL computes pages of rows, also those that change meanwhile, without code", async () => {
  const scene = await aScene(many);
  const docs = await scene.docs();
  let isChanged = false;
  const update: RowAccess["update"] = async (...values) => {
    if (!isChanged) await docs.update({ where: "id = 3", values: { text: "changed" } });
    isChanged = true;
    return await scene.access.update(...values);
  };
  const sql = { with: { sql: "character_length(text)" } };
  const { problem } = await scene.run(sql, { rows: { ...scene.access, update } });
  expect(problem).toBeUndefined();
  expect(await scene.lengths()).toEqual(many.map(({ id }) => (id === 3 ? 7 : id)));
  expect(scene.computed).toEqual([]);
});

test.each([
  [4, "one page: they need not be counted", 0],
  [600, "several pages: they are counted once", 1],
])("progress states how many of %i rows are computed, in %s", async (rows, _, counts) => {
  const scene = await aScene(Array.from({ length: rows }, (_, id) => ({ id, text: "x" })));
  const seen: (readonly [number, number | undefined])[] = [];
  const counted: string[] = [];
  const count = async (where: string) => {
    counted.push(where);
    return await (await scene.docs()).countRows(where);
  };
  await scene.run({ batch: 1 }, { count, progress: (...now) => seen.push(now) });
  expect(seen.at(-1)).toEqual([rows, rows]);
  expect(counted).toHaveLength(counts);
});

test("a fill that continues another one counts the rows that are left", async () => {
  const scene = await aScene(texts);
  await expect(scene.run(one, { compute: failingAfter(1) })).rejects.toThrow("enough");
  const totals = new Set<number | undefined>();
  await scene.run({}, { progress: (_, total) => totals.add(total) });
  expect([...totals]).toEqual([3]);
});

test("the mark column may have any name", async () => {
  const scene = await aScene(texts, "My mark");
  const mark = "My mark";
  const fails = { compute: failingAfter(2) };
  await expect(scene.run({ mark, ...one }, fails)).rejects.toThrow("enough");
  await scene.run({ mark });
  expect(await scene.lengths()).toEqual([1, 2, null, 4]);
  // The null was computed, so it is not computed again.
  await scene.run({ mark });
  expect(scene.computed).toHaveLength(4);
});

test("with `overwrite`, values of others are computed again, once", async () => {
  const scene = await aScene(texts.map((row) => ({ ...row, length: -1 })));
  await scene.run();
  expect(scene.computed).toEqual([]);
  await expect(scene.run({ overwrite: true, ...one }, { compute: failingAfter(2) })).rejects.toThrow("enough");
  await scene.run({ overwrite: true });
  expect(await scene.lengths()).toEqual([1, 2, null, 4]);
  expect(scene.computed).toHaveLength(4);
  const docs = await scene.docs();
  await docs.update({ where: "id = 1", values: { length: -7 } });
  await docs.update({ where: "id = 3", values: { text: "ddddd" } });
  await scene.run({ overwrite: true });
  expect(await scene.lengths()).toEqual([1, -7, null, 5]);
});

test("each row belongs to one shard", async () => {
  const ids = [0, 2 ** 53 - 1, ...many.map(({ id }) => id + 1)];
  const scene = await aScene(ids.map((id) => ({ id, text: String(id).padEnd(20) })));
  const sizes = [];
  for (const index of [1, 2, 3]) {
    const before = scene.computed.length;
    await scene.run({}, { shard: { index, of: 3 } });
    sizes.push(scene.computed.length - before);
  }
  expect(sizes.reduce((sum, size) => sum + size)).toBe(ids.length);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  expect(await scene.lengths()).toEqual(ids.map(() => 20));
});

test("a shard computes only its own failed rows again", async () => {
  const scene = await aScene(many);
  const compute = async () => Promise.reject(new Error("no"));
  await scene.run({ failedRows: "leave", where: "id < 10" }, { compute });
  for (const index of [1, 2]) await scene.run({ where: "id < 10" }, { shard: { index, of: 2 } });
  expect(scene.computed).toHaveLength(10);
  expect((await scene.lengths()).slice(0, 11)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, null]);
});

test("what killed shards have computed is merged by a fill without a shard, and not by other shards", async () => {
  const scene = await aScene(many);
  const action = { table: "docs", path: "length" } as FillColumnAction;
  const shards = [1, 2].map((index) => ({ index, of: 2 }));
  for (const shard of shards) {
    const own = stagingName("_migrations", action, shard);
    const context = { shard, staging: own, staged: [own], compute: failingAfter(3) };
    await expect(scene.run(one, context)).rejects.toThrow("enough");
  }
  const tables = await scene.tables();
  const staged = stagingsOf(tables, "_migrations", action);
  expect(staged).toHaveLength(2);
  expect(stagingsOf([...tables, `${staging}-1-of-2`], "_migrations", action)).toEqual(staged);
  await scene.run({}, { staged });
  expect(await scene.tables()).toEqual(["docs"]);
  expect(await scene.lengths()).toEqual(many.map(({ id }) => id));
  expect(scene.computed).toHaveLength(many.length);
});

test("rows without a key are found by a shard", async () => {
  const scene = await aScene([{ id: null as unknown as number, text: "a" }]);
  const fills = [1, 2].map((index) => scene.run({}, { compute: lengths, shard: { index, of: 2 } }));
  const ends = await Promise.allSettled(fills);
  expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

/** Changes the table once, while code computes, or right before values are merged. */
function changing(scene: Scene, moment: string, change: () => Promise<unknown>): Given {
  let isDone = false;
  const once = async (now: string) => {
    if (now !== moment || isDone) return;
    isDone = true;
    await change();
  };
  const compute: Compute = async (rows) => {
    await once("computes");
    return await lengths(rows);
  };
  const update: RowAccess["update"] = async (...values) => {
    await once("merges");
    return await scene.access.update(...values);
  };
  return { compute, rows: { ...scene.access, update } };
}

const moments = ["computes", "merges"];
const changes: readonly (readonly [what: string, change: (docs: Docs) => Promise<unknown>])[] = [
  ["compacts the table", (docs) => docs.optimize()],
  ["appends rows", (docs) => docs.add([{ id: 1_000, text: "appended", other: "old" }])],
  ["changes another column of all rows", (docs) => docs.update({ values: { other: "new" } })],
];

test.each(moments.flatMap((moment) => changes.map(([what, change]) => [what, moment, change] as const)))(
  "if an application %s while the run %s, no row is computed twice",
  async (_, moment, change) => {
    const scene = await aScene(many.slice(30));
    await scene.add(many.slice(0, 30));
    const docs = await scene.docs();
    await docs.addColumns([{ name: "other", valueSql: "'old'" }]);
    await scene.run(
      { batch: 60 },
      changing(scene, moment, () => change(docs)),
    );
    expect((await scene.lengths()).slice(0, many.length)).toEqual(many.map(({ id }) => id));
    expect(new Set(scene.computed).size).toBe(scene.computed.length);
  },
);

test.each(moments)(
  "values that an application gives while the run %s stay, and rows that it changes are computed again",
  async (moment) => {
    const scene = await aScene(many);
    const docs = await scene.docs();
    const change = async () => {
      await docs.update({ where: "id = 7", values: { length: -7 } });
      await docs.update({ where: "id = 8", values: { text: "eight" } });
      await docs.delete("id = 9");
    };
    await scene.run({ batch: 60 }, changing(scene, moment, change));
    const expected = many.map(({ id }) => (id === 7 ? -7 : id === 8 ? 5 : id));
    expect(await scene.lengths()).toEqual(expected.filter((length) => length !== 9));
    expect(scene.computed.filter((text) => text === "eight")).toHaveLength(1);
  },
);

test("only rows that have moved are looked for by their keys", async () => {
  const scene = await aScene([]);
  const rows = Array.from({ length: 1_200 }, (_, id) => ({ id, text: `text ${id}` }));
  // Others have no value either, and stay in front of those that move.
  await scene.add(rows);
  const lists: number[] = [];
  const read: RowAccess["read"] = async (table, wanted) => {
    const keys = / in \(([\d, ]+)\) and /.exec(wanted.where ?? "")?.[1];
    if (keys !== undefined) lists.push(keys.split(", ").length);
    return await scene.access.read(table, wanted);
  };
  const docs = await scene.docs();
  await docs.addColumns([{ name: "other", valueSql: "'old'" }]);
  const change = async () => {
    await docs.add(rows.map(({ id, text }) => ({ id: id + 10_000, text: `another ${text}`, other: "old" })));
    await docs.update({ where: "id < 100", values: { other: "new" } });
  };
  const context = changing(scene, "computes", change);
  await scene.run({ batch: 500 }, { ...context, rows: { ...context.rows!, read } });
  expect(lists).toEqual([100]);
  expect(new Set(scene.computed).size).toBe(scene.computed.length);
  expect(scene.computed).toHaveLength(2 * rows.length);
});

test("where rows have no addresses, values of applications stay too", async () => {
  const scene = await aScene(many);
  const docs = await scene.docs();
  const selected: string[] = [];
  const context = changing(scene, "merges", () => docs.update({ where: "id = 7", values: { length: -7 } }));
  const read: RowAccess["read"] = async (table, wanted) => {
    selected.push(...wanted.select.map(([name]) => name));
    return await scene.access.read(table, wanted);
  };
  await scene.run({ batch: 60 }, { ...context, rows: { ...context.rows!, read, version: async () => undefined } });
  expect(await scene.lengths()).toEqual(many.map(({ id }) => (id === 7 ? -7 : id)));
  expect(selected).not.toContain("_rowaddr");
});

test.each([true, false])(
  "a row that shares its key and its sources keeps its own value, with addresses: %s",
  async (addresses) => {
    const scene = await aScene([
      { id: 1, text: "a", length: -5 },
      { id: 1, text: "a" },
      { id: 2, text: "bb" },
    ]);
    const rows = addresses ? scene.access : { ...scene.access, version: async () => undefined };
    await scene.run({}, { rows });
    expect((await scene.lengths()).toSorted()).toEqual([-5, 1, 2]);
  },
);

test.each([true, false])(
  "a row that leaves `where` after it was computed loses its value or is reported, nobody else writing: %s",
  async (overwrite) => {
    const scene = await aScene([
      { id: 1, text: "a" },
      { id: 2, text: "bb" },
    ]);
    const where = "not starts_with(text, '!')";
    const docs = await scene.docs();
    const pause = async () => void (await docs.update({ where: "id = 2", values: { text: "!left" } }));
    const { problem } = await scene.run({ where, overwrite }, { pause });
    expect(await scene.lengths()).toEqual([1, overwrite ? null : 2]);
    expect(problem?.rows).toBe(overwrite ? undefined : 1);
    expect((await scene.run({ where, overwrite })).problem?.rows).toBe(overwrite ? undefined : 1);
    // When it is back, it is computed again.
    await docs.update({ where: "id = 2", values: { text: "back" } });
    expect((await scene.run({ where, overwrite })).problem).toBeUndefined();
    expect(await scene.lengths()).toEqual([1, 4]);
  },
);

test.each([undefined, 100])(
  "however many gaps are between rows that lack a value, merges leave out the column, unless a target limits that: %s",
  async (mostRanges) => {
    const scene = await aScene(
      Array.from({ length: 300 }, (_, id) => ({ id, text: "a", length: id % 2 === 0 ? null : -1 })),
    );
    const conditions: string[] = [];
    const update: RowAccess["update"] = async (...given) => {
      conditions.push(given[3]);
      return await scene.access.update(...given);
    };
    await scene.run({}, { rows: { ...scene.access, update, mostRanges } });
    expect(await scene.lengths()).toEqual(Array.from({ length: 300 }, (_, id) => (id % 2 === 0 ? 1 : -1)));
    const read = conditions.filter((condition) => condition.includes("target.`length` is null"));
    expect(read.length > 0).toBe(mostRanges !== undefined);
  },
);

test("a row that is back before its value was removed keeps it", async () => {
  const scene = await aScene([
    { id: 1, text: "a" },
    { id: 2, text: "bb" },
  ]);
  const docs = await scene.docs();
  const pause = async () => void (await docs.update({ where: "id = 2", values: { text: "!left" } }));
  const setNull: RowAccess["setNull"] = async (...given) => {
    await scene.access.setNull(...given);
    await docs.update({ where: "id = 2", values: { text: "bb" } });
  };
  const rows = { ...scene.access, setNull };
  const asked = { where: "not starts_with(text, '!')", overwrite: true };
  await scene.run(asked, { pause, rows });
  await scene.run(asked);
  expect(await scene.lengths()).toEqual([1, 2]);
});

test("once a column has replaced another one, code that was edited has a way out too", async () => {
  const mark = "_lance_migrate_source_length";
  const scene = await aScene(many, mark);
  await scene.run({ mark, overwrite: true }, { codeHash: "one" });
  await scene.add([{ id: 60, text: "x" }]);
  const compute: Compute = async (rows) => rows.map(() => 0);
  const edited = { compute, codeHash: "two" };
  await expect(scene.run({ mark, overwrite: true }, edited)).rejects.toThrow("or state another `version`");
  await expect(scene.run({ mark }, edited)).rejects.toThrow(
    `or drop the column ${mark} of docs, and run the command again; rows that were written since the switch then keep the values that they have`,
  );
  await expect(scene.run({ mark, overwrite: true, keepsFailed: true }, edited)).rejects.toThrow(
    `or drop the column ${mark} of docs, and run the command again to compute them again`,
  );
});

test("code that was edited between two runs may go on if it gives the same values; otherwise nothing is written", async () => {
  const scene = await aScene(many);
  await expect(scene.run({ batch: 10 }, { compute: failingAfter(3), codeHash: "one" })).rejects.toThrow("enough");
  const twice: Compute = async (rows) => rows.map(({ text }) => (text as string).length * 2);
  await expect(scene.run({}, { compute: twice, codeHash: "two" })).rejects.toThrow(
    "./lengths.ts: it was edited after it had computed rows, and now gives another length for 19 of 20 rows that it computed; restore it to keep the values, or state another `version` in the step to compute them again",
  );
  expect((await scene.lengths()).filter((length) => length !== null)).toHaveLength(30);
  const failing: Compute = async () => {
    throw new Error("no");
  };
  await expect(scene.run({}, { compute: failing, codeHash: "two" })).rejects.toThrow("now fails for these rows: no");
  // Values that are computed in the next run are of both, and marked so.
  await scene.run({}, { codeHash: "two" });
  expect(await scene.lengths()).toEqual(many.map(({ id }) => id));
  await scene.add([{ id: 60, text: "x" }]);
  await expect(scene.run({}, { compute: twice, codeHash: "two" })).rejects.toThrow("another length");
  await scene.run({ version: "2" }, { compute: twice, codeHash: "three" });
  expect(await scene.lengths()).toEqual([...many.map(({ id }) => id * 2), 2]);
});

test("a value that an application merges in place while the run computes stays", async () => {
  const scene = await aScene(many);
  const docs = await scene.docs();
  await docs.createIndex("id", { config: lancedb.Index.btree() });
  const schema = new Schema([new Field("id", new Int64(), true), new Field("length", new Int32(), true)]);
  let moved: string | undefined;
  const merge = async () => {
    const given = lancedb.makeArrowTable([{ id: 7n, length: -7 }], { schema: schema as never });
    await docs.mergeInsert("id").whenMatchedUpdateAll().execute(given);
    moved = await address();
  };
  const address = async () => String(await docs.query().where("id = 7").select(["_rowaddr"]).toArray());
  const before = await address();
  await scene.run({ batch: 60 }, changing(scene, "computes", merge));
  expect(moved).toBe(before);
  expect(await scene.lengths()).toEqual(many.map(({ id }) => (id === 7 ? -7 : id)));
});

test("values that were computed before a crash are not merged over those that an application has given since", async () => {
  const scene = await aScene(many);
  await expect(scene.run({ batch: 10 }, { compute: failingAfter(3) })).rejects.toThrow("enough");
  await (await scene.docs()).update({ where: "id = 7", values: { length: -7 } });
  await scene.run();
  expect(await scene.lengths()).toEqual(many.map(({ id }) => (id === 7 ? -7 : id)));
});

test("values that were computed before a crash are not merged into rows whose sources have changed since", async () => {
  const scene = await aScene(many);
  await expect(scene.run({ batch: 10 }, { compute: failingAfter(3) })).rejects.toThrow("enough");
  const [first] = await scene.access.read(staging, { select: [["id", "id"]] });
  const staged = Number(first!["id"]);
  await (await scene.docs()).update({ where: `id = ${staged}`, values: { text: "changed since" } });
  await scene.run();
  expect(await scene.lengths()).toEqual(many.map(({ id }) => (id === staged ? 13 : id)));
  expect(scene.computed).toHaveLength(many.length + 1);
});

test("what two runs have staged for one row is merged once", async () => {
  const scene = await aScene(many);
  await expect(scene.run({ batch: 10 }, { compute: failingAfter(3) })).rejects.toThrow("enough");
  const columns = (await scene.access.columns(staging))!;
  const select = columns.map(({ name }) => [name, name] as const);
  await scene.access.append(staging, { columns, rows: await scene.access.read(staging, { select }) });
  await scene.run();
  expect(await scene.lengths()).toEqual(many.map(({ id }) => id));
  expect(scene.computed).toHaveLength(many.length);
});

test("each write is made only while the run may write, and the versions of the table are counted", async () => {
  const scene = await aScene(many);
  const fails: Compute = async () => Promise.reject(new Error("no"));
  await scene.run({ failedRows: "leave", where: "id < 3" }, { compute: fails });
  const log: string[] = [];
  const logged =
    <Args extends readonly unknown[], Result>(what: string, work: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      log.push(what);
      return await work(...args);
    };
  const { access } = scene;
  const rows = {
    ...access,
    update: logged("update", access.update),
    setNull: logged("setNull", access.setNull),
    append: logged("append", access.append),
    drop: logged("drop", access.drop),
  };
  const before = (await access.version("docs"))!;
  const { merges } = await scene.run({ batch: 60 }, { rows, mayWrite: async () => void log.push("may write") });
  expect(merges).toBe((await access.version("docs"))! - before);
  const writes = ["setNull", "append", "update", "drop"];
  expect(log).toEqual(writes.flatMap((write) => ["may write", write]));
});

test("rows whose sources or version have changed since are computed again; null and an empty text differ", async () => {
  const scene = await aScene(texts);
  await scene.run();
  const docs = await scene.docs();
  await docs.update({ where: "id = 1", values: { text: "ccc" } });
  await docs.update({ where: "id = 2", values: { text: "" } });
  await scene.run();
  expect(await scene.lengths()).toEqual([1, 3, 0, 4]);
  expect(scene.computed.slice(texts.length).toSorted()).toEqual(["", "ccc"]);
  await scene.run({ version: "2" });
  expect(scene.computed).toHaveLength(2 * texts.length + 2);
});

test("a value that an application has removed is computed again", async () => {
  const scene = await aScene(many);
  await scene.run();
  await (await scene.docs()).update({ where: "id = 7", values: { length: null as never } });
  await scene.run();
  expect(await scene.lengths()).toEqual(many.map(({ id }) => id));
  expect(scene.computed).toHaveLength(many.length + 1);
});

test("what is reported are the rows without a value at the end", async () => {
  const scene = await aScene(many);
  const docs = await scene.docs();
  const isLong = (text: unknown) => String(text).length > 57;
  let calls = 0;
  const compute: Compute = async (rows) => {
    if (rows.some(({ text }) => isLong(text))) throw new Error("too long");
    if (rows.length === 1 && ++calls === 1) await docs.update({ where: "id = 59", values: { text: "short" } });
    return await lengths(rows);
  };
  const { problem } = await scene.run({ failedRows: "leave" }, { compute });
  expect(problem).toEqual({ rows: 1, text: "too long" });
  expect(await scene.lengths()).toEqual(many.map(({ id }) => (id === 58 ? null : id === 59 ? 5 : id)));
});

test("rows that others keep changing are counted", async () => {
  const scene = await aScene(many);
  const docs = await scene.docs();
  const compute: Compute = async (rows) => {
    await docs.update({ where: "id < 3", valuesSql: { text: "concat(text, 'y')" } });
    return await lengths(rows);
  };
  const { problem } = await scene.run({}, { compute });
  expect(problem).toEqual({ rows: 3, text: "others kept changing what it is computed from" });
});

test("if rows were computed before, many others may fail", async () => {
  const scene = await aScene(many);
  await scene.run({ where: "id < 10" });
  const compute: Compute = async () => Promise.reject(new Error("too long"));
  const { problem } = await scene.run({ failedRows: "leave" }, { compute });
  expect(problem).toEqual({ rows: 50, text: "too long" });
  // Those that another version has computed do not count.
  await expect(scene.run({ failedRows: "leave", version: "2" }, { compute })).rejects.toThrow("too long");
});

test("sources of which one is null differ from those of which the other is null", async () => {
  const scene = await aScene(texts);
  const docs = await scene.docs();
  await docs.addColumns([{ name: "other", valueSql: "cast(null as string)" }]);
  await scene.run({ from: ["text", "other"] });
  await docs.update({ where: "id = 0", valuesSql: { text: "null", other: "'a'" } });
  await scene.run({ from: ["text", "other"] });
  expect((await scene.lengths())[0]).toBeNull();
});

test("a staging table with other columns is dropped", async () => {
  const scene = await aScene(texts);
  const columns = [{ name: "id", type: { kind: "int64" }, nullable: true }] as const;
  await scene.access.append(staging, { columns, rows: [{ id: 1 }] });
  await scene.run();
  expect(await scene.lengths()).toEqual([1, 2, null, 4]);
  expect(await scene.tables()).toEqual(["docs"]);
});

const hundreds: readonly Row[] = Array.from({ length: 600 }, (_, id) => ({ id, text: "x" }));

test("if all rows change again and again while they are computed, the fill stops", async () => {
  // So large that no page has all of them.
  const scene = await aScene(hundreds.map((row) => ({ ...row, text: "x".repeat(60_000) })));
  const docs = await scene.docs();
  const compute: Compute = async (rows) => {
    await docs.update({ valuesSql: { text: "concat(text, 'x')" } });
    return await lengths(rows);
  };
  await expect(scene.run({ batch: 600, concurrency: 1 }, { compute })).rejects.toThrow(
    "rows changed while their values were computed, 5 times in a row",
  );
});

test("a fill has as many pages as its rows need", async () => {
  const rows = 500 + 2_000 + 8_000 + 32_000 + 50_000;
  const scene = await aScene(Array.from({ length: rows }, (_, id) => ({ id, text: "x" })));
  expect(await scene.run({ with: { sql: "character_length(text)" } })).toMatchObject({ merges: 5, problem: undefined });
  expect(await (await scene.docs()).countRows("length = 1")).toBe(rows);
});

test("pages grow slowly, because the rows of the next one may be larger", async () => {
  const scene = await aScene(hundreds);
  const limits: number[] = [];
  const read: RowAccess["read"] = async (table, wanted) => {
    if (wanted.limit !== undefined && wanted.limit > 1) limits.push(wanted.limit);
    return await scene.access.read(table, wanted);
  };
  await scene.run({}, { rows: { ...scene.access, read } });
  expect(limits).toEqual([500, 2_000, 8_000]);
});

test("equal rows are computed once, also on later pages, and progress counts all of them", async () => {
  const ids = Array.from({ length: 1_200 }, (_, id) => id);
  const textOf = (id: number) => "x".repeat(id < 600 ? id % 50 : id % 60);
  const scene = await aScene(ids.map((id) => ({ id, text: textOf(id) })));
  const seen: (readonly [number, number | undefined])[] = [];
  const count = async () => 1_200;
  const progress = (computed: number, total: number | undefined) => void seen.push([computed, total]);
  expect((await scene.run({}, { count, progress })).problem).toBeUndefined();
  expect(scene.computed.toSorted()).toEqual(Array.from({ length: 60 }, (_, length) => "x".repeat(length)));
  expect(seen.at(-1)).toEqual([1_200, 1_200]);
  expect(await scene.lengths()).toEqual(ids.map((id) => textOf(id).length));
});

test("each of equal rows gets a value of its own if the step states that", async () => {
  const scene = await aScene(Array.from({ length: 20 }, (_, id) => ({ id, text: "same" })));
  let next = 0;
  await scene.run({ equalRows: "each" }, { compute: async (rows) => rows.map(() => next++) });
  expect((await scene.lengths()).toSorted((one, other) => one! - other!)).toEqual(
    Array.from({ length: 20 }, (_, at) => at),
  );
});
