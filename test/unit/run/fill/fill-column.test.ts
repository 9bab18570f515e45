import { expect, test } from "vitest";
import type { FillColumnAction } from "../../../../src/actions/model/action.ts";
import { stagingName, stagingsOf } from "../../../../src/run/fill/staging-name.ts";
import { aScene, failingAfter, lengths, staging, type Row } from "./fill-scene.ts";

const texts: readonly Row[] = ["a", "bb", null, "dddd"].map((text, id) => ({ id, text }));
const many: readonly Row[] = Array.from({ length: 60 }, (_, id) => ({ id, text: "x".repeat(id) }));
const one = { batch: 1, concurrency: 1 };

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
  const scene = await aScene(ids.map((id) => ({ id, text: "text" })));
  const sizes = [];
  for (const index of [1, 2, 3]) {
    const before = scene.computed.length;
    await scene.run({}, { shard: { index, of: 3 } });
    sizes.push(scene.computed.length - before);
  }
  expect(sizes.reduce((sum, size) => sum + size)).toBe(ids.length);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  expect(await scene.lengths()).toEqual(ids.map(() => 4));
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
