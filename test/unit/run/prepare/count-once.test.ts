import { expect, test } from "vitest";
import { countingOnce } from "../../../../src/run/prepare/count-once.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { addRows, lancedb } from "../../../support/tables.ts";

const int64 = { kind: "int64" } as const;

/** A folder with a table, and its target, which notes what it counts. */
async function aTarget(hasInstances = true) {
  const folder = temporaryFolder();
  const db = await lancedb.connect(folder);
  await db.createTable("t", [{ a: 1 }, { a: 2 }]);
  const engine = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const asked: string[] = [];
  const countRows: Target["countRows"] = async (table, predicate, version, most) => {
    asked.push(predicate ?? "all");
    return await engine.countRows!(table, predicate, version, most);
  };
  const described: Target["describeTable"] = async (table) => {
    const seen = await engine.describeTable(table);
    return seen && { table: seen.table, version: seen.version };
  };
  const without = { instance: undefined, describeTable: described };
  return { folder, db, asked, target: countingOnce({ ...engine, countRows, ...(hasInstances ? {} : without) }) };
}

test("the same rows of a table that nobody has changed are counted once", async () => {
  const { asked, target } = await aTarget();
  expect(await target.countRows!("t", "a > 1")).toBe(1);
  expect(await target.countRows!("t", "a > 1")).toBe(1);
  expect(await target.countRows!("t", "a > 0")).toBe(2);
  expect(asked).toEqual(["a > 1", "a > 0"]);
});

test("they are counted again once somebody has written to the table", async () => {
  const { folder, asked, target } = await aTarget();
  expect(await target.countRows!("t", "a > 1")).toBe(1);
  await addRows(folder, "t", [{ a: 3 }]);
  expect(await target.countRows!("t", "a > 1")).toBe(2);
  expect(asked).toHaveLength(2);
});

test("they are counted again in another table of that name, even if it has the same version", async () => {
  const { db, target } = await aTarget();
  expect(await target.countRows!("t", "a > 1")).toBe(1);
  await db.dropTable("t");
  await db.createTable("t", [{ a: 5 }, { a: 6 }, { a: 7 }]);
  expect(await target.countRows!("t", "a > 1")).toBe(3);
});

test("nothing is remembered without instances, which alone tell a recreated table of the same version", async () => {
  const { db, target, asked } = await aTarget(false);
  expect(await target.countRows!("t", "a > 1")).toBe(1);
  await db.dropTable("t");
  await db.createTable("t", [{ a: 5 }, { a: 6 }, { a: 7 }]);
  expect(await target.countRows!("t", "a > 1")).toBe(3);
  expect(asked).toHaveLength(2);
});

test("a question about an old version, all rows or a limited number of rows is another question", async () => {
  const { folder, target } = await aTarget();
  await addRows(folder, "t", [{ a: 3 }]);
  expect(await target.countRows!("t", "a > 0")).toBe(3);
  expect(await target.countRows!("t", "a > 0", 1)).toBe(2);
  expect(await target.countRows!("t")).toBe(3);
  expect(await target.countRows!("t", "a > 0", undefined, 1)).toBe(1);
});

test("the same SQL on the same columns is tried once", async () => {
  const { target: engine } = await aTarget();
  const tried: (string | undefined)[] = [];
  const tryCall: Target["tryCall"] = async (columns, call) => {
    if (call.kind === "addColumns") tried.push(call.columns[0]!.as);
    return await engine.tryCall!(columns, call);
  };
  const { tryCall: tries } = countingOnce({ ...engine, tryCall });
  const a = { name: "a", type: int64, nullable: true };
  const added = (as: string) =>
    ({ kind: "addColumns", table: "t", columns: [{ name: "n", type: int64, nullable: true, as }] }) as const;
  for (const columns of [[a], [a, { ...a, name: "b" }]]) {
    for (let run = 0; run < 2; run++) {
      expect(await tries!(columns, added("a + 1"))).toBeUndefined();
      expect(await tries!(columns, added("nofunc(a)"))).toContain("Invalid function 'nofunc'");
    }
  }
  expect(await tries!([a], added("b"))).toContain("No field named b");
  expect(await tries!([a, { ...a, name: "b" }], added("b"))).toBeUndefined();
  expect(tried).toEqual(["a + 1", "nofunc(a)", "a + 1", "nofunc(a)", "b", "b"]);
});
