/** Columns that the engine computes from others: declared by an expression, filled by a refresh. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { addRows, lancedb, rowsOf, versionsOf } from "../support/tables.ts";

/** A table as another program makes it: a computed column between two others, filled. */
async function makeOrders(folder: string): Promise<void> {
  const db = await lancedb.connect(folder);
  const orders = await db.createTable("orders", [{ price: 2.5, pieces: 4 }]);
  await orders.addColumns({ computed: [{ name: "total", valueSql: "price * pieces" }] });
  await orders.addColumns([{ name: "note", valueSql: "'none'" }]);
  await orders.refreshColumn("total");
}

async function orders(folder: string) {
  return await (await lancedb.connect(folder)).openTable("orders");
}

async function adopted(): Promise<Project> {
  const project = aProject();
  await makeOrders(project.database);
  expect(await project.migrate(["pull"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
  return project;
}

describe("a computed column that another program made", () => {
  test("is pulled as one, without what the engine keeps of its refreshes, and up declares it on a new database", async () => {
    const project = await adopted();
    const text = readFileSync(join(project.folder, "migrations/0001_adopt.ts"), "utf8");
    expect(text).toContain('addComputedColumn("orders", "total", float64(), "price * pieces")');
    expect(text).not.toContain("computed_");
    expect(readFileSync(join(project.folder, "schema.ts"), "utf8")).toContain('float64().computed("price * pieces")');
    expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 0 });

    const fresh = aProject();
    fresh.write("migrations/0001_adopt.ts", text);
    expect(await fresh.migrate(["up"])).toMatchObject({ code: 0 });
    await (await orders(fresh.database)).add([{ price: 3, pieces: 2, note: "new" }]);
    await (await orders(fresh.database)).refreshColumn("total");
    expect(await rowsOf(fresh.database, "orders")).toEqual([{ price: 3, pieces: 2, total: 6, note: "new" }]);
    expect(await fresh.migrate(["verify"])).toMatchObject({ code: 0 });
  });

  test("is no drift after a refresh, and is drift when its expression is another", async () => {
    const project = await adopted();
    await (await orders(project.database)).add([{ price: 1, pieces: 1, note: "new" }]);
    await (await orders(project.database)).refreshColumn("total");
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    await (await orders(project.database)).dropColumns(["total"]);
    await (await orders(project.database)).addColumns({ computed: [{ name: "total", valueSql: "price + pieces" }] });
    expect(await project.migrate(["verify"])).toMatchObject(
      onStdout(4, "column total is computed from price + pieces instead of computed from price * pieces"),
    );
  });

  test("plan refuses to change it, and what it reads", async () => {
    const project = await adopted();
    for (const [step, problem] of [
      [`m.renameColumn("orders", "price", "cost"),`, "the computed column total reads it"],
      [`m.execute("orders", { update: { total: "1" } }),`, "total is a computed column"],
    ] as const) {
      project.migration("0002_change.ts", step);
      const plan = await project.migrate(["plan", "--accept", "lossy"]);
      expect(plan).toMatchObject(onStderr(4, problem));
    }
  });

  test("can be renamed and dropped", async () => {
    const project = await adopted();
    project.migration("0002_rename.ts", `m.renameColumn("orders", "total", "sum"),`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    project.migration("0003_drop.ts", `m.dropColumn("orders", "sum"), m.renameColumn("orders", "price", "cost"),`);
    expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  });
});

const writesB = 'm.execute("t", { update: { b: "null" }, where: "b is null" }),';
const refreshesD = 'm.refreshColumn("t", "d"),';
const creation = `m.createTable("orders", { price: m.int32(), pieces: m.int32() }, { rows: [{ price: 2, pieces: 3 }] }),`;

test("addComputedColumn declares a column with its type, refreshColumn fills it, and down drops it", async () => {
  const project = aProject();
  project.migration("0001_orders.ts", creation);
  project.migration(
    "0002_total.ts",
    `m.addComputedColumn("orders", "total", m.int64(), "price * pieces"), m.refreshColumn("orders", "total"),`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0, stderr: expect.not.stringContaining("WARN") });
  expect(await rowsOf(project.database, "orders")).toEqual([{ price: 2, pieces: 3, total: 6 }]);
  expect(String((await (await orders(project.database)).schema()).fields[2]!.type)).toBe("Int64");
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "orders")).toEqual([{ price: 2, pieces: 3 }]);
});

test("generate declares, changes and drops computed columns of schema.ts", async () => {
  const project = aProject();
  project.migration("0001_orders.ts", creation);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const declare = (total: string) =>
    project.write(
      "schema.ts",
      `import { defineSchema, int32, int64 } from "lance-migrate";\n\nexport default defineSchema({\n  orders: { price: int32(), pieces: int32()${total} },\n});\n`,
    );
  for (const [total, filled] of [
    [`, total: int64().computed("price * pieces")`, { total: 6 }],
    [`, total: int64().computed("price + pieces")`, { total: 5 }],
    ["", {}],
  ] as const) {
    declare(total);
    expect(await project.migrate(["generate", "--accept", "lossy"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 0 });
    expect(await rowsOf(project.database, "orders")).toEqual([{ price: 2, pieces: 3, ...filled }]);
  }
});

describe("where rows have values of no other column than the one that is dropped", () => {
  /** A table in which an application has appended only `a`, with a computed column behind it. */
  async function aTableOf(others: string): Promise<Project> {
    const project = aProject();
    const computed = `m.addComputedColumn("t", "d", m.int32(), "1"),`;
    project.migration("0001_create.ts", `m.createTable("t", { a: m.int32() }), ${computed}${others}`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    await addRows(project.database, "t", [{ a: 1 }]);
    return project;
  }

  async function planOf(project: Project, steps: string) {
    project.migration("0002_drop.ts", `${steps}m.dropColumn("t", "a"),`);
    return await project.migrate(["plan", "--accept", "lossy"]);
  }

  test.each([
    ["another column is written, not the computed one", `m.addColumn("t", "b", m.utf8()),`, "execute with", writesB],
    ["a computed column is refreshed where it is all that is left", "", 'refreshColumn for "d"', refreshesD],
  ])("%s", async (_, others, hint, way) => {
    const project = await aTableOf(others);
    const refused = await planOf(project, "");
    expect(refused).toMatchObject(onStderr(4, hint));
    // It was tried on a copy.
    expect(refused.stderr).not.toContain("was restored");
    expect(await planOf(project, way)).toMatchObject({ code: 0 });
    expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
    expect(await rowsOf(project.database, "t")).toHaveLength(1);
  });
});

describe("an expression that the engine refuses is known before the first write", () => {
  async function aTableOf(steps: string): Promise<Project> {
    const project = aProject();
    project.migration("0001_create.ts", `m.createTable("t", { a: m.int32(), s: m.utf8() }),`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    await addRows(project.database, "t", [{ a: 1, s: "one" }]);
    project.migration("0002_compute.ts", `m.addColumn("t", "b", m.int32()), ${steps}`);
    return project;
  }

  const refused = (problem: string) => ({ code: 4, stderr: expect.stringContaining(problem) });

  test.each([
    ["that gives another value each time", "random()", "'random' is not deterministic"],
    ["that is none", "a +", "the SQL can't be read"],
  ])("one %s", async (_, sql, problem) => {
    const project = await aTableOf(`m.addComputedColumn("t", "d", m.float64(), "${sql}"),`);
    const before = await versionsOf(project.database);
    expect(await project.migrate(["plan"])).toMatchObject(refused(`t.d can't be computed from ${sql}: `));
    expect(await project.migrate(["up"])).toMatchObject(refused(problem));
    expect(await versionsOf(project.database)).toEqual(before);
  });

  test("one that reads a column of the same migration is none", async () => {
    const project = await aTableOf(`m.addComputedColumn("t", "d", m.int32(), "a + coalesce(b, 2)"),`);
    expect(await project.migrate(["plan"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  });

  test.each([
    ["in the migration that declares it", true],
    ["in a later one", false],
  ])("a value that can't be computed, %s", async (_, isTogether) => {
    const declare = `m.addComputedColumn("t", "d", m.int32(), "cast(s as int)"),`;
    const refresh = `m.refreshColumn("t", "d"),`;
    const project = await aTableOf(isTogether ? `${declare} ${refresh}` : declare);
    if (!isTogether) {
      expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
      project.migration("0003_refresh.ts", refresh);
    }
    const before = await versionsOf(project.database);
    expect(await project.migrate(["plan"])).toMatchObject(refused("Cannot cast string 'one'"));
    expect(await project.migrate(["up"])).toMatchObject({ code: 4 });
    expect(await versionsOf(project.database)).toEqual(before);
    await (await (await lancedb.connect(project.database)).openTable("t")).update({ values: { s: "1" } });
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await rowsOf(project.database, "t")).toMatchObject([{ d: 1 }]);
  });
});
