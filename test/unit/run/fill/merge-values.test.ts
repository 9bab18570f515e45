/** Merges on the embedded engine, with calls that are refused as it refuses them beside many writers. */
import { expect, test } from "vitest";
import { ValueMerger } from "../../../../src/run/fill/merge-values.ts";
import type { RowAccess } from "../../../../src/targets/contract/row-access.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { rowsOf } from "../../../support/tables.ts";

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
      mayWrite: async () => {},
      outrun: ({ tries }) => told.push(tries),
    });
  const merge = { table: "docs", key: "id", values: { columns, rows: ids(count).map((id) => ({ id, n: id })) } };
  const left = async () => (await rowsOf(folder, "docs")).filter(({ n }) => n === null);
  return { sizes, told, merger, merge: { ...merge, condition: "true" }, left };
}

test("a merge that is outrun is followed by smaller ones, which grow again", async () => {
  const { sizes, told, merger, merge, left } = await aScene(2_000);
  expect(await merger(() => 60).merge(merge)).toMatchObject({ changed: 2_000 });
  expect(sizes.slice(0, 6)).toEqual([2_000, 200, 20, 40, 80, 10]);
  expect(Math.max(...sizes.slice(2))).toBeLessThanOrEqual(80);
  expect(told.at(-1)).toBe(told.length);
  expect(await left()).toEqual([]);
});

test("if not even the smallest comes first, it ends with the error of the engine, and keeps what was merged", async () => {
  const { sizes, merger, merge, left } = await aScene(500);
  let calls = 0;
  await expect(merger(() => (calls++ < 4 ? 50 : 0)).merge(merge)).rejects.toThrow("Too many concurrent writers");
  expect(sizes).toEqual([500, 50, 100, 10, 20, 10, 10, 10]);
  expect((await left()).length).toBe(500 - 60);
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
  expect(sizes.slice(before).toSorted((a, b) => a - b)).toEqual(sizes.slice(before));
});
