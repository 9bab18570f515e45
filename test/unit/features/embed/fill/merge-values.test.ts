/** Merges on the embedded engine, with calls that are refused as it refuses them beside many writers. */
import { expect, test } from "vitest";
import { ValueMerger } from "../../../../../src/features/embed/fill/merge-values.ts";
import type { RowAccess } from "../../../../../src/targets/contract/row-access.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { rowsOf } from "../../../../support/tables.ts";
import { leapingClock } from "../../../../support/watched.ts";

const columns = [
  { name: "id", type: { kind: "int64" }, nullable: true },
  { name: "n", type: { kind: "int32" }, nullable: true },
] as const;
const ids = (count: number) => Array.from({ length: count }, (_, id) => id);

async function aScene(count: number) {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const access = target.rows!;
  await access.append("docs", { columns, rows: ids(count).map((id) => ({ id, n: null })) });
  const sizes: number[] = [];
  /** Refuses merges of more rows as the engine does when it has never come first. */
  const busy = (most: () => number): Pick<RowAccess, "update"> => ({
    async update(table, key, values, condition) {
      sizes.push(values.rows.length);
      if (values.rows.length <= most()) return await access.update(table, key, values, condition);
      throw new Error("lance error: Too many concurrent writers. Commit conflict for version 7");
    },
  });
  const told: number[] = [];
  const merger = (most: () => number) =>
    new ValueMerger({
      rows: busy(most),
      verdict: (error) => target.verdict(error),
      clock: leapingClock(),
      mayWrite: async () => {},
      outrun: ({ tries }) => told.push(tries),
    });
  const merge = { table: "docs", key: "id", values: { columns, rows: ids(count).map((id) => ({ id, n: id })) } };
  const left = async () => (await rowsOf(folder, "docs")).filter(({ n }) => n === null);
  return { sizes, told, merger, merge: { ...merge, condition: "true" }, left };
}

test("a merge that is outrun is followed by smaller ones, and larger ones are tried seldom", async () => {
  const { sizes, told, merger, merge, left } = await aScene(2_000);
  const one = merger(() => 60);
  expect(await one.merge(merge)).toEqual({ changed: 2_000, merged: 2_000 });
  expect(sizes.slice(0, 8)).toEqual([2_000, 200, 20, 20, 20, 20, 40, 40]);
  const vain = sizes.filter((size) => size > 60);
  expect(vain).toEqual([2_000, 200, 80, 80, 80]);
  expect(one.commits).toBe(sizes.length - vain.length);
  expect(told).toEqual([1]);
  expect(await left()).toEqual([]);
});

test("if not even the smallest comes first, it ends with the error of the engine, and keeps what was merged", async () => {
  const { sizes, merger, merge, left } = await aScene(500);
  let calls = 0;
  const one = merger(() => (calls++ < 4 ? 50 : 0));
  await expect(one.merge(merge)).rejects.toThrow("Too many concurrent writers");
  expect(sizes).toEqual([500, 50, 50, 50, 50, 25, 13, 10, 10, 10]);
  expect(one.commits).toBe(3);
  expect((await left()).length).toBe(500 - 150);
});

test("the next merge begins with the size that came first", async () => {
  const { sizes, merger, merge } = await aScene(100);
  let most = 10;
  const one = merger(() => most);
  await one.merge(merge);
  const before = sizes.length;
  most = 100;
  await one.merge(merge);
  expect(sizes[before]).toBeLessThan(100);
  expect(sizes.slice(before).every((size, at, all) => at === 0 || size >= all[at - 1]! || at === all.length - 1)).toBe(
    true,
  );
});

test("if rows have got no value, the rest may be left to the caller", async () => {
  const { merger, merge } = await aScene(100);
  const one = merger(() => 20);
  const some = { ...merge, condition: "target.id != 15" };
  expect(await one.merge({ ...some, stops: true })).toEqual({ changed: 19, merged: 20 });
  expect(await one.merge(some)).toEqual({ changed: 99, merged: 100 });
});

test("without rows nothing is merged", async () => {
  const { sizes, merger, merge } = await aScene(1);
  const none = { ...merge, values: { columns, rows: [] } };
  expect(await merger(() => 10).merge(none)).toEqual({ changed: 0, merged: 0 });
  expect(sizes).toEqual([]);
});
