/** What the engine would refuse in the middle is refused before anything is changed. */
import { expect, test } from "vitest";
import { aProjectOn, key } from "../e2e/support/project-on.ts";
import { lancedb } from "../support/tables.ts";
import { onStderr } from "../support/project.ts";

test.each(["lance", "namespace"] as const)(
  "rows whose values don't fit the old type stop a rollback before the old version is restored, on %s",
  async (way) => {
    const { data, migrate, migration } = await aProjectOn(way);
    const table = async () => await (await lancedb.connect(data)).openTable("t");
    migration("0001_t.ts", 'm.createTable("t", { id: m.int32(), at: m.timestamp("ns") }, { rows: [{ id: 1 }] }),');
    migration("0002_day.ts", 'm.retypeColumn("t", "at", m.date32()),');
    expect(await migrate(["up", "--accept", "lossy"], key)).toMatchObject({ code: 0 });
    await (await table()).add([{ id: 2 }]);
    const far = "arrow_cast(arrow_cast(-2147483648, 'Int32'), 'Date32')";
    await (await table()).update({ where: "id = 2", valuesSql: { at: far } });
    const version = await (await table()).version();
    const words = /rows of t can't be reinserted: .*Cannot cast Date32 value/;
    for (const command of [["plan", "--down"], ["down"]])
      expect(await migrate([...command, "--reinsert"], key)).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(words),
      });
    expect(await (await table()).version()).toBe(version);
  },
);

test("rows that don't fit a migration further back stop the rollback before its old version is restored", async () => {
  const { data, migrate, migration } = await aProjectOn("lance");
  const table = async () => await (await lancedb.connect(data)).openTable("t");
  migration("0001_t.ts", 'm.createTable("t", { id: m.int32(), at: m.timestamp("ns"), a: m.utf8() }),');
  migration("0002_day.ts", 'm.retypeColumn("t", "at", m.date32()),');
  migration("0003_a.ts", 'm.dropColumn("t", "a"),');
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  await (await table()).add([{ id: 2 }]);
  const far = "arrow_cast(arrow_cast(-2147483648, 'Int32'), 'Date32')";
  await (await table()).update({ where: "id = 2", valuesSql: { at: far } });
  expect(await migrate(["down", "--to", "1", "--reinsert"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/0002_day.*rows of t can't be reinserted: .*Cannot cast Date32 value/),
  });
  expect(await (await table()).countRows()).toBe(1);
  await (await table()).update({ where: "id = 2", values: { at: 0 } });
  expect(await migrate(["down", "--to", "1", "--reinsert"])).toMatchObject({ code: 0 });
  expect((await (await table()).query().toArray()).map(({ id }) => id)).toEqual([2]);
});

test.each(["lance", "namespace"] as const)(
  "vectors with NaN, which the engine does not add, stop a rollback before the old version is restored, on %s",
  async (way) => {
    const { data, migrate, migration } = await aProjectOn(way);
    const table = async () => await (await lancedb.connect(data)).openTable("t");
    migration(
      "0001_t.ts",
      'm.createTable("t", { id: m.int32(), v: m.vector(2), old: m.utf8() }, { rows: [{ id: 1 }] }),',
    );
    migration("0002_old.ts", 'm.dropColumn("t", "old"),');
    expect(await migrate(["up", "--accept", "lossy"], key)).toMatchObject({ code: 0 });
    await (await table()).add([{ id: 2 }]);
    const nan = "arrow_cast(array_repeat(arrow_cast('NaN', 'Float32'), 2), 'FixedSizeList(2, Float32)')";
    await (await table()).update({ where: "id = 2", valuesSql: { v: nan } });
    const version = await (await table()).version();
    expect(await migrate(["down", "--reinsert"], key)).toMatchObject(
      onStderr(4, "the engine can't add vectors with NaN, and v has some"),
    );
    expect(await (await table()).version()).toBe(version);
  },
);

test("a computed column is not refreshed where the engine would find nulls in deleted rows", async () => {
  const { data, migrate, migration } = await aProjectOn("lance");
  const rows = "rows: [{ id: 1 }, { id: 2 }, { id: 3 }]";
  migration("0001_t.ts", `m.createTable("t", { id: m.int32().notNull() }, { ${rows} }),`);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  const table = async () => await (await lancedb.connect(data)).openTable("t");
  await (await table()).delete("id = 2");
  const steps = 'm.addComputedColumn("t", "twice", m.int32(), "id * 2"), m.refreshColumn("t", "twice"),';
  migration("0002_twice.ts", steps);
  const version = await (await table()).version();
  for (const command of ["plan", "up"])
    expect(await migrate([command])).toMatchObject(
      onStderr(4, "the engine can't compute twice from a column that is not null (id)"),
    );
  expect(await (await table()).version()).toBe(version);
  migration("0002_twice.ts", `m.setNullable("t", "id", true), ${steps}`);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  expect((await (await table()).query().toArray()).map(({ twice }) => twice)).toEqual([2, 6]);
});
