/** What is left after columns are dropped can be read, or nothing was dropped. */
import { expect, test } from "vitest";
import { connect, type EngineTable } from "../../src/engine/engine.ts";
import { columnsOf, int32, utf8 } from "../../src/schema/declare/type-builders.ts";
import { open } from "../../src/targets/lance/lance.ts";
import type { TableSnapshot } from "../../src/targets/contract/target.ts";
import { lancedb, rowsOf } from "../support/tables.ts";
import { arrow } from "../service/served.ts";
import { temporaryFolder } from "../support/project.ts";

test("an append of nothing but the column that is dropped, after it was looked at, leaves the table as it was", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const columns = columnsOf({ a: int32(), b: utf8() });
  await target.execute({ kind: "createTable", table: "t", columns, rows: [{ a: 1, b: "x" }] }, undefined);
  expect(await target.tryDropping!("t", ["a"])).toBeUndefined();
  const seen = await target.describeTable("t");
  await (await (await lancedb.connect(folder)).openTable("t")).add([{ a: 2 }]);
  const dropping = target.execute({ kind: "dropColumns", table: "t", paths: ["a"] }, seen);
  await expect(dropping).rejects.toThrow(/could not read the table any more; .*version 2 was restored/);
  expect(await rowsOf(folder, "t")).toEqual([
    { a: 1, b: "x" },
    { a: 2, b: null },
  ]);
  expect(await target.tryDropping!("t", ["a"])).toContain("could not read the table any more");
  await target.close();
});

test("a backtick and a quote in the other column's name are escaped in the way out", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const name = 'b`"c';
  const columns = columnsOf({ a: int32(), [name]: utf8() });
  await target.execute({ kind: "createTable", table: "t", columns }, undefined);
  await (await (await lancedb.connect(folder)).openTable("t")).add([{ a: 2 }]);
  expect(await target.tryDropping!("t", ["a"])).toContain(
    '{ update: { "`b``\\"c`": "null" }, where: "`b``\\"c` is null" }',
  );
  await target.close();
});

test("who slept after a drop does not restore the table over what others have committed since", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const columns = columnsOf({ a: int32(), b: utf8() });
  await target.execute({ kind: "createTable", table: "t", columns, rows: [{ a: 1, b: "x" }] }, undefined);
  const seen = (await target.describeTable("t")) as TableSnapshot & { readonly handle: EngineTable };
  const others = async () => await (await lancedb.connect(folder)).openTable("t");
  await (await others()).add([{ a: 2 }]);
  const look = seen.handle.countRows.bind(seen.handle);
  // Between the drop and the look at what is left.
  seen.handle.countRows = async () => {
    const table = await others();
    await table.checkout(2);
    await table.restore();
    await table.add([{ a: 3, b: "z" }]);
    return await look();
  };
  const dropping = target.execute({ kind: "dropColumns", table: "t", paths: ["a"] }, seen);
  await expect(dropping).rejects.toThrow(/up to version 5, so nothing was restored: .* restore version 2 /);
  expect(await (await others()).version()).toBe(5);
  expect((await rowsOf(folder, "t")).map(({ a }) => a)).toEqual([1, 2, 3]);
  await target.close();
});

test("a field of a list's items that the table's file format can't drop alone is refused, and the list stays", async () => {
  const folder = temporaryFolder();
  const db = await connect({ uri: folder });
  const rows = [{ id: 1, l: [{ x: 1, y: 2 }] }];
  const item = new arrow.Struct(["x", "y"].map((name) => new arrow.Field(name, new arrow.Int32(), true)));
  const schema = new arrow.Schema([
    new arrow.Field("id", new arrow.Int32(), true),
    new arrow.Field("l", new arrow.List(new arrow.Field("item", item, true)), true),
  ]);
  await db.createTable("t", rows, { schema, storageOptions: { new_table_data_storage_version: "2.1" } });
  db.close();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  expect(await target.tryDropping!("t", ["l.item.x"])).toContain("would drop more than that");
  const dropping = target.execute(
    { kind: "dropColumns", table: "t", paths: ["l.item.x"] },
    await target.describeTable("t"),
  );
  await expect(dropping).rejects.toThrow("would drop more than that");
  expect(await rowsOf(folder, "t")).toEqual(rows);
  await target.close();
});
