import { expect, test } from "vitest";
import type { Adoption } from "../../../../../src/features/author/adopt/adopt-tables.ts";
import { movedTables } from "../../../../../src/features/author/adopt/moved-tables.ts";
import { columnsOf, int32, utf8 } from "../../../../../src/schema/declare/type-builders.ts";
import { memoryTarget } from "../../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../../simulate/target/memory-tables.ts";

const columns = columnsOf({ a: int32(), b: utf8() });
const gone = new Map([["old", { columns }]]);

/** What is found if others drop the tables `dropped` as soon as they are listed. */
async function moved(...dropped: readonly string[]) {
  const tables = memoryTables();
  for (const name of ["one", "other", "_migrations", "known"]) tables.create(name, columns);
  tables.create("unlike", columnsOf({ z: utf8() }));
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  const listTables = async () => {
    const names = await memory.listTables();
    for (const name of dropped) tables.drop(name);
    return names;
  };
  const target = { ...memory, listTables };
  return await movedTables(gone, new Set(["known"]), target, "_migrations");
}

const adoption = (more: Partial<Adoption> = {}) => ({ unsure: [], unused: [], ...more }) as unknown as Adoption;

test("unknown tables that are like a missing one may be that one under another name", async () => {
  const { unsure, chosen } = await moved();
  expect(unsure(adoption(), [])).toEqual([{ table: "old", names: ["one", "other"] }]);
  expect([...chosen([{ table: "old", name: "other" }]).keys()]).toEqual(["other"]);
});

test("a table that is dropped before it can be described is not proposed as the new name of a missing one", async () => {
  const { unsure } = await moved("one");
  expect(unsure(adoption(), [])).toEqual([{ table: "old", names: ["other"] }]);
});

test("what was answered is not asked again, what no use was made of is", async () => {
  const { unsure } = await moved();
  const answer = { table: "old", name: "one" };
  expect(unsure(adoption(), [answer])).toEqual([]);
  expect(unsure(adoption({ unused: [answer] }), [answer])).toEqual([{ table: "old", names: ["one", "other"] }]);
});

test("what else is unsure is asked as it is, and names that are known already come first", async () => {
  const { unsure } = await moved();
  const others = [
    { table: "old", path: "a", names: ["c"] },
    { table: "old", names: ["known"] },
  ];
  expect(unsure(adoption({ unsure: others }), [])).toEqual([
    others[0],
    { table: "old", names: ["known", "one", "other"] },
  ]);
});
