import { expect, test } from "vitest";
import { describeForComparison } from "../../../../src/run/prepare/describe-tables.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { Model } from "../../../simulate/target/carry.ts";

async function described(model: Model) {
  const tables = memoryTables();
  const columns = columnsOf({ a: int32() });
  tables.create("t", columns);
  const found = await describeForComparison(
    memoryTarget({ name: "memory", model, tables }),
    ["t", "u"],
    new Set(),
    false,
  );
  return Object.fromEntries([...found].map(([name, table]) => [name, table?.columns.map((column) => column.name)]));
}

test("of a target that can't describe tables, only their names are compared", async () => {
  expect(await described("namespace")).toEqual({ t: ["a"], u: undefined });
  expect(await described("service")).toEqual({ t: [], u: undefined });
});

test("tables that change from round to round are described until the run is interrupted", async () => {
  const tables = memoryTables();
  tables.create("t", columnsOf({ a: int32() }));
  const target = memoryTarget({ name: "memory", model: "namespace", tables });
  const run = new AbortController();
  let described = 0;
  const changing = {
    ...target,
    describeTable: async () => {
      if (++described === 3) run.abort();
      return { table: { columns: columnsOf({ [`column${described}`]: int32() }) }, version: described };
    },
  };
  const comparing = describeForComparison(changing, ["t"], new Set(), true, run.signal);
  await expect(comparing).rejects.toMatchObject({ code: "ERR_INTERRUPTED" });
  expect(described).toBe(3);
});

test("tables are described again as long as one of them changes", async () => {
  const tables = memoryTables();
  for (const name of ["t", "u"]) tables.create(name, columnsOf({ a: int32() }));
  const target = memoryTarget({ name: "memory", model: "namespace", tables });
  let described = 0;
  const changing: typeof target = {
    ...target,
    describeTable: async (table) => {
      const snapshot = await target.describeTable(table);
      // After the first look at each of the two.
      if (++described === 2)
        tables.carryOut({ kind: "alterColumns", table: "t", alterations: [{ path: "a", rename: "b" }] });
      return snapshot;
    },
  };
  const found = await describeForComparison(changing, ["t", "u"], new Set(), true);
  expect(found.get("t")!.columns).toMatchObject([{ name: "b" }]);
  expect(described).toBe(6);
});
