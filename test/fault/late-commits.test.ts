/** Steps that take several commits, rolled back on the embedded engine: what an application writes between these commits. */
import type { Table } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { float32, float64, int32, int64, struct, utf8 } from "../../src/schema/declare/type-builders.ts";
import { alterColumns, createTable, renameColumn, retypeColumn } from "../../src/steps/index.ts";
import { columnsOf, rowsOf } from "../support/tables.ts";
import { aDatabase } from "./recreated-scene.ts";

const plain = {
  create: createTable("t", { id: int32().notNull(), x: float32() }),
  rows: [
    { id: 1, x: 0.5 },
    { id: 2, x: null },
  ],
};

// float32 has no 0.1.
const writes = {
  append: async (table: Table) => await table.add([{ id: 1, x: 0.1 }]),
  update: async (table: Table) => await table.update({ where: "id = 1", values: { x: 0.1 } }),
};

const calls = [1, 2, 3];
const cases = calls.flatMap((call) =>
  (["before", "after"] as const).flatMap((when) =>
    (["append", "update"] as const).map((kind) => [kind, when, call] as const),
  ),
);

/** Rolls back float32 to float64. The application writes into the column right before or after a call, as long as it is float64. */
async function withWrite([kind, when, call]: (typeof cases)[number]) {
  const { folder, run, back, handle } = await aDatabase([retypeColumn("t", "x", float64())], plain);
  expect(await run()).toMatchObject({ applied: 1 });
  let called = 0;
  let isAcknowledged = false;
  const write = async (at: string) => {
    if (at !== when || called !== call || !(await columnsOf(folder, "t")).includes("x: float64")) return;
    await writes[kind](await handle()).then(
      () => (isAcknowledged = true),
      () => {}, // as long as there is a guard
    );
  };
  const beforeCalls = async () => {
    called++;
    await write("before");
  };
  const problem = await back({}, { beforeCalls, afterCalls: () => write("after") });
  return { problem, called, isAcknowledged, handle };
}

/** The others are refused by the column's guard, or come when it is float32. */
const acknowledged = new Set(["append before 1", "update before 1", "update after 1", "update before 2"]);

test.each(cases)("what an %s writes %s call %i of a rollback is kept or reported", async (...one) => {
  const { problem, called, isAcknowledged, handle } = await withWrite(one);
  expect(isAcknowledged).toBe(acknowledged.has(one.join(" ")));
  if (!isAcknowledged) return expect({ problem, called }).toEqual({ problem: { reverted: 1, total: 1 }, called: 3 });
  const now = await handle();
  expect(problem).toMatchObject({ code: "ERR_WRITES_LOST" });
  await now.checkout(Number(/version (\d+) of t still holds them/.exec(String(problem))![1]));
  expect(await now.countRows("id = 1 AND x = cast(0.1 as double)")).toBe(1);
});

test("a rollback whose cast the engine refuses leaves no guard column, also after others have written since its check", async () => {
  const create = createTable("t", { id: int32().notNull(), n: int32() });
  const { folder, run, back, handle } = await aDatabase([retypeColumn("t", "n", int64())], {
    create,
    rows: [{ id: 1 }],
  });
  expect(await run()).toMatchObject({ applied: 1 });
  const beforeLook = async () => await (await handle()).add([{ id: 2, n: 2n ** 40n }]);
  const problem = await back({}, { beforeLook });
  expect(String(problem)).toContain("Can't cast value 1099511627776 to type Int32");
  expect(await columnsOf(folder, "t")).toEqual(["id: int32 not null", "n: int64"]);
});

const nested = {
  create: createTable("t", { id: int32().notNull(), s: struct({ a: float32(), b: utf8() }) }),
  rows: [
    { id: 1, s: { a: 0.5, b: "x" } },
    { id: 2, s: { a: null, b: null } },
  ],
};

test.each([
  ["two steps", [renameColumn("t", "s.a", "c"), retypeColumn("t", "s.c", float64())]],
  ["one step", [alterColumns("t", [{ path: "s.a", rename: "c", type: float64() }])]],
  [
    "one step with another field",
    [
      alterColumns("t", [
        { path: "s.a", type: float64() },
        { path: "s.b", rename: "c" },
      ]),
    ],
  ],
] as const)("a field that was renamed and retyped in %s is rolled back", async (_, steps) => {
  const { folder, run, back } = await aDatabase(steps, nested);
  const before = await columnsOf(folder, "t");
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await columnsOf(folder, "t")).not.toEqual(before);
  expect(await back()).toMatchObject({ reverted: 1 });
  expect(await columnsOf(folder, "t")).toEqual(before);
  expect(await rowsOf(folder, "t")).toEqual(nested.rows);
});
