import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Column, DataType } from "../../../../src/schema/data-type.ts";
import { open } from "../../../../src/targets/lance/lance.ts";

const float: Column = { name: "item", type: { kind: "float32" }, nullable: true };
const vector: DataType = { kind: "fixedSizeList", length: 2, item: float };
const columns: readonly Column[] = [
  { name: "id", type: { kind: "int64" }, nullable: true },
  { name: "at", type: vector, nullable: true },
  { name: "parts", type: { kind: "list", item: { name: "item", type: vector, nullable: true } }, nullable: true },
];

async function aTarget() {
  return await open({ kind: "lance", uri: mkdtempSync(join(tmpdir(), "rows-")) }, { name: "local", folder: "/" });
}

test("the nearest rows come first, by the distance that was asked for", async () => {
  const target = await aTarget();
  const rows = target.rows!;
  const vectors = [
    [1, 0],
    [0, 1],
    [10, 1],
  ];
  await rows.append("t", { columns, rows: vectors.map((at, id) => ({ id, at, parts: [at, at] })) });
  const wanted = { select: [["id", "id"]], vectors: [[2, 0]], limit: 2, exact: true } as const;
  const ids = async (distance: string, more: object = {}) =>
    (await rows.nearest("t", { ...wanted, column: "at", distance, ...more })).map(({ id }) => id);
  expect(await ids("l2")).toEqual([0, 1]);
  expect(await ids("cosine")).toEqual([0, 2]);
  expect(await ids("dot", { where: "id <> 0" })).toEqual([2, 1]);
  expect(
    await ids("cosine", {
      column: "parts",
      vectors: [
        [0, 3],
        [0, 1],
      ],
    }),
  ).toEqual([1, 2]);
  await target.close();
});

test("an exact search finds what the index of a table misses", async () => {
  const target = await aTarget();
  const rows = target.rows!;
  const spiral = Array.from({ length: 2_000 }, (_, id) => [Math.cos(id) * id, Math.sin(id) * id]);
  await rows.append("t", { columns: columns.slice(0, 2), rows: spiral.map((at, id) => ({ id, at })) });
  // Its codes tell 16 numbers apart.
  const index = { path: "at", kind: "ivfPq", options: { numPartitions: 1, numSubVectors: 2, numBits: 4 } } as const;
  await target.execute({ kind: "createIndex", table: "t", name: "at_idx", index }, await target.describeTable("t"));
  const wanted = { select: [["id", "id"]], column: "at", distance: "l2", limit: 1 } as const;
  const asked = [300, 700, 1_100, 1_500, 1_900];
  const found = async (exact: boolean) => {
    const results = asked.map((id) => rows.nearest("t", { ...wanted, vectors: [spiral[id]!], exact }));
    return (await Promise.all(results)).map(([row]) => row!["id"]);
  };
  expect(await found(true)).toEqual(asked);
  expect(await found(false)).not.toEqual(asked);
  await target.close();
});

test("a table that is created by an append has the metadata of its columns that is given", async () => {
  const target = await aTarget();
  const rows = target.rows!;
  const fields = { id: { "lance-encoding:compression": "none" } };
  for (const id of [1, 2]) await rows.append("t", { columns, rows: [{ id, at: [1, 2], parts: [] }], fields });
  const found = (await rows.columns("t"))!.map(({ name, metadata }) => [name, metadata ?? {}]);
  expect(Object.fromEntries(found)).toEqual({ id: fields.id, at: {}, parts: {} });
  await target.close();
});

test("a column is indexed once more when there are more rows, and searches by it find all", async () => {
  const target = await aTarget();
  const rows = target.rows!;
  const append = async (first: number) =>
    await rows.append("t", {
      columns: columns.slice(0, 2),
      rows: [0, 1].map((at) => ({ id: first + at, at: [at, at] })),
    });
  await append(0);
  await rows.indexColumn!("t", "id");
  await append(2);
  await rows.indexColumn!("t", "id");
  await append(4);
  expect(Object.values(await rows.indexes("t"))).toMatchObject([{ path: "id", kind: "btree" }]);
  const found = await rows.read("t", { select: [["id", "id"]], where: "id in (1, 3, 5, 7)" });
  expect(found.map(({ id }) => Number(id)).toSorted((one, other) => one - other)).toEqual([1, 3, 5]);
  await target.close();
});
