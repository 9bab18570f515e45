/** Which expression fills a new column: the engine itself shows whether the column is nullable as it was wanted. */
import { expect, test } from "vitest";
import { connect, createEmptyTable, readColumns, type EngineTable } from "../../../../src/engine/engine.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { cheapestSql, cheapestSqlBefore } from "../../../../src/targets/lance/new-columns.ts";
import { formsOf } from "../../../../src/wire/arrow/arrow-cast.ts";
import { temporaryFolder } from "../../../support/project.ts";

async function aTable(): Promise<EngineTable> {
  const db = await connect({ uri: temporaryFolder() });
  await createEmptyTable(db, "t", columnsOf({ id: int32().notNull(), score: int32() }));
  return await db.openTable("t");
}

const added = (as: string) => ({ name: "n", type: { kind: "int64" }, nullable: true, as }) as const;

test.each([
  ["that may be null", "score * 2", 0],
  ["that is never null", "id * 2", 1],
  ["that is never null although it reads a column that may be", "coalesce(score, 1)", 1],
  ["that is a constant", "1", 2],
  ["that the engine turns into a constant", "id * 0", 2],
  ["that reads no column", "random() * 5", 2],
])("an expression %s gives a nullable column with the least work", async (_, as, place) => {
  const table = await aTable();
  const [sql] = await cheapestSql([added(as)], table);
  expect(formsOf(added(as)).indexOf(sql!)).toBe(place);
  await table.addColumns([{ name: "n", valueSql: sql! }]);
  expect(await readColumns(table)).toContainEqual({ name: "n", type: { kind: "int64" }, nullable: true });
});

test("an expression that the engine refuses stays the general one, so that addColumns states the problem", async () => {
  expect(await cheapestSql([added("nope")], await aTable())).toEqual([formsOf(added("nope"))[2]]);
});

test("a plan tells the same expression for columns that an earlier step makes", async () => {
  const before = { columns: columnsOf({ later: int32(), id: int32().notNull() }) };
  const told = async (as: string) => await cheapestSqlBefore([added(as)], before);
  expect(await told("later * 2")).toEqual([formsOf(added("later * 2"))[0]]);
  expect(await told("id * 2")).toEqual([formsOf(added("id * 2"))[1]]);
  expect(await told("nope")).toEqual([formsOf(added("nope"))[2]]);
  const unknown = { name: "x", type: { kind: "unknown", name: "Map" }, nullable: true } as const;
  expect(await cheapestSqlBefore([added("id")], { columns: [unknown] })).toBeUndefined();
});
