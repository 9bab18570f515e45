/** `down` of tables that somebody dropped and recreated with the same schema, with the built command. */
import { expect, test } from "vitest";
import { casesInTurn } from "../support/rounds.ts";
import { lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";

const inTurn = casesInTurn();

const create = `m.createTable("documents", { id: m.int32(), title: m.utf8() }),`;

/** A project whose migrations have run, and whose table has been dropped and recreated since. */
async function recreated(steps: string, way: Way, rows: Record<string, unknown>[]) {
  const project = await aProjectOn(way);
  const migrate = async (args: readonly string[]) => await project.migrate(args, key);
  project.migration("0001_create.ts", create);
  project.migration("0002_more.ts", steps);
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  const db = await lancedb.connect(project.data);
  const schema = await (await db.openTable("documents")).schema();
  await db.dropTable("documents");
  const table = await db.createEmptyTable("documents", schema);
  // At least as many versions as the table had that the migrations made.
  for (let version = 1; version < 8; version++)
    await table.updateFieldMetadata([{ path: "id", metadata: { v: null } }]);
  if (rows.length > 0) await table.add(rows);
  return { migrate, data: project.data };
}

const theirs = [{ id: 7, title: "theirs" }];

test.each([
  ["lance", theirs],
  ["namespace", []],
] as const)(
  "a table that another has taken the place of is not dropped without consent (%s, %j)",
  async (way, rows) => {
    const { migrate, data } = await recreated(`m.createTable("other", { id: m.int32() }),`, way, [...rows]);
    const before = await versionsOf(data);
    const refused = await migrate(["down", "--to", "0"]);
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(refused.stderr).toContain(
      "table documents was dropped and recreated after 0001_create.ts, and would be dropped",
    );
    const { _migrations: _, ...tables } = await versionsOf(data);
    expect(before).toMatchObject(tables);
    expect(await migrate(["plan", "--down", "--to", "0"])).toMatchObject({ code: 4 });
    expect(await migrate(["down", "--to", "0", "--accept", "lossy"])).toMatchObject({ code: 0 });
    expect(Object.keys(await versionsOf(data))).toEqual(["_migrations"]);
  },
);

test.each(inTurn(["lance", "namespace"] as const))(
  "no version of the table that took the place of another is restored (%s)",
  async (way) => {
    const { migrate, data } = await recreated(`m.execute("documents", { delete: "id > 1" }),`, way, theirs);
    for (const more of [[], ["--accept", "lossy"], ["--reinsert"]]) {
      const refused = await migrate(["down", ...more]);
      expect(refused).toMatchObject({ code: 4, stdout: "" });
      expect(refused.stderr).toContain(
        "table documents was dropped and recreated after 0002_more.ts, and its old versions went with it",
      );
    }
    expect(await rowsOf(data, "documents")).toEqual(theirs);
  },
);

test("a column of the table that took the place of another is not dropped without consent", async () => {
  const { migrate } = await recreated(`m.addColumn("documents", "n", m.int32(), { as: "id" }),`, "lance", []);
  const refused = await migrate(["down"]);
  expect(refused).toMatchObject({ code: 4 });
  expect(refused.stderr).toContain(
    "table documents was dropped and recreated after 0002_more.ts, and columns of it would be dropped",
  );
});

test.each(inTurn(["lance", "namespace"] as const))(
  "a table that has only been written to and compacted is the same (%s)",
  async (way) => {
    const project = await aProjectOn(way);
    const migrate = async (args: readonly string[]) => await project.migrate(args, key);
    project.migration("0001_create.ts", create);
    expect(await migrate(["up"])).toMatchObject({ code: 0 });
    const table = await (await lancedb.connect(project.data)).openTable("documents");
    await table.add(theirs);
    await table.delete("true");
    await table.optimize();
    expect(await migrate(["down"])).toMatchObject({ code: 0 });
  },
);
