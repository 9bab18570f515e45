/** `migrate reset`: all tables of migrations, made again. */
import { expect, test } from "vitest";
import { aProject, onStderr, type Project } from "../support/project.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";

async function aScene(push = true): Promise<Project> {
  const project = aProject();
  project.write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb", push: ${push} } } };`,
  );
  project.migration(
    "0001_docs.ts",
    `m.createTable("docs", { id: m.int64() }), m.insertRows("docs", [{ id: 1 }], { key: "id" })`,
  );
  project.migration("0002_gone.ts", `m.createTable("other", { id: m.int64() }), m.addColumn("docs", "n", m.int32())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [{ id: 2n, n: 3 }]);
  await (await lancedb.connect(project.database)).createTable("own", [{ id: 9 }]);
  return project;
}

async function isAsMade({ database }: Project): Promise<void> {
  expect(await rowsOf(database, "docs")).toEqual([{ id: 1, n: null }]);
  expect(await rowsOf(database, "other")).toEqual([]);
  expect(await rowsOf(database, "own")).toEqual([{ id: 9 }]);
}

test("the tables of migrations are made again with the rows of migrations, and no other is touched", async () => {
  const project = await aScene();
  expect(await project.migrate(["reset"])).toMatchObject(
    onStderr(2, "migrate reset asks at a terminal; with --yes it asks nothing"),
  );
  expect(await rowsOf(project.database, "docs")).toHaveLength(2);
  const { code, stdout } = await project.migrate(["reset", "--yes"]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^drop docs with 2 rows\ndrop other with 0 rows\napplied [^]*2 migrations applied\n$/),
  ]);
  await isAsMade(project);
  expect((await project.migrate(["status"])).stdout).toContain("2 migrations applied");
  // Also with an edited file, which up would refuse.
  project.migration("0002_gone.ts", `m.createTable("other", { id: m.int32() }), m.addColumn("docs", "n", m.int32())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 4 });
  const { stdout: events } = await project.migrate(["reset", "--yes", "--json"]);
  expect(JSON.parse(events.split("\n")[0]!)).toEqual({ event: "reset", tables: ["docs", "other"] });
  await isAsMade(project);
});

test("after a kill between two tables, or before the ledger is dropped, the next reset does the rest", async () => {
  const project = await aScene();
  const tables = await lancedb.connect(project.database);
  await tables.dropTable("docs");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["reset", "--yes"])).toMatchObject({ code: 0 });
  await isAsMade(project);
  await tables.dropTable("_migrations");
  expect(await project.migrate(["reset", "--yes"])).toMatchObject({ code: 0 });
  await isAsMade(project);
});

test("a target that does not allow push is left as it is", async () => {
  const project = await aScene(false);
  expect(await project.migrate(["reset", "--yes"])).toMatchObject(
    onStderr(
      4,
      "migrate.config.ts does not allow it on target local; roll everything back with migrate down --to 0, or set push: true",
    ),
  );
  expect(await rowsOf(project.database, "docs")).toHaveLength(2);
});
