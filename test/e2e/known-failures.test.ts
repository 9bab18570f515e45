/** What is known to fail on the rows that exist now is refused before the first write. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project, onStderr } from "../support/project.ts";
import { addRows, lancedb, rowsOf, versionsOf } from "../support/tables.ts";

const create = `m.createTable("u", { x: m.utf8() }), m.createTable("t", { id: m.int32().notNull(), a: m.int64(), s: m.utf8(), v: m.vector(4) }),`;
const vector = [1, 2, 3, 4];

/** A table with two rows, one of which has nulls, and a migration before the one in question. */
async function aTable(steps: string, before = ""): Promise<Project> {
  const project = aProject();
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [
    { id: 1, a: 1000, s: "7", v: vector },
    { id: 2, a: null, s: null, v: null },
  ]);
  project.migration("0002_first.ts", `m.addColumn("t", "first", m.int8()),${before}`);
  project.migration("0003_second.ts", steps);
  return project;
}

test.each([
  ["a null", `m.setNullable("t", "a", false),`, "t.a is null in 1 row now"],
  ["a value that does not fit", `m.retypeColumn("t", "a", m.int8()),`, "1 row of t.a can't become int8 now"],
  ["a new column without values", `m.setNullable("t", "first", false),`, "t.first was added without values"],
  [
    "null for a column that is not null",
    `m.retypeColumn("t", "id", m.int64(), { using: "null" }),`,
    "t.id is not null",
  ],
  [
    "a new column from nulls",
    `m.addColumn("u", "n", m.utf8().notNull(), { as: "x" }),`,
    "u.n is not null, and x is null in 1",
  ],
  [
    "a value that can't be worked out",
    `m.addColumn("u", "n", m.int8(), { as: "cast(x as int)" }),`,
    "can't be worked out: ",
  ],
  [
    "an unknown function on a table that a step before changes",
    `m.addColumn("t", "n", m.int32(), { as: "nofunc(id)" }),`,
    "t.n can't be computed from nofunc(id): Invalid function 'nofunc'",
  ],
  [
    "a condition on a column that a step before renames",
    `m.renameColumn("t", "first", "second"), m.execute("t", { delete: "first > 1" }),`,
    "0003_second.ts, step 2 (execute) would fail: no rows can be found where first > 1: No field named first",
  ],
  [
    "a column that SQL can't compute",
    `m.backfillColumn("t", "first", { from: ["a"], key: "id", with: { sql: "nofunc(a)" }, version: "1" }),`,
    "0003_second.ts, step 1 (backfillColumn) would fail: t.first can't be computed from nofunc(a): Invalid function",
  ],
  [
    "a table whose name differs only in case",
    `m.createTable("T", { id: m.int32() }),`,
    "the name T differs from that of table t only in case",
  ],
  ["a primary key that holds nulls", `m.setNullable("t", "id", true),`, "t.id is part of the table's primary key"],
])("%s is refused by plan, plan --out and up, and nothing is written", async (_, steps, problem) => {
  const project = await aTable(steps, `m.addColumn("t", "w", m.vector(4)), m.createTable("n", { v: m.vector(4) }),`);
  await addRows(project.database, "u", [{ x: "seven" }, { x: null }]);
  await (await (await lancedb.connect(project.database)).openTable("t")).setUnenforcedPrimaryKey("id");
  const before = await versionsOf(project.database);
  const refused = { code: 4, stderr: expect.stringContaining(`would fail: `) };
  expect(await project.migrate(["up"])).toMatchObject(onStderr(4, problem));
  const plan = await project.migrate(["plan"]);
  expect(plan.stderr).not.toContain("can't be reached");
  expect(plan).toMatchObject(refused);
  expect(plan.stdout).toContain("    would fail: ");
  expect(await project.migrate(["plan", "--out", "p.json"])).toMatchObject(refused);
  expect(existsSync(join(project.folder, "p.json"))).toBe(false);
  expect(await versionsOf(project.database)).toEqual(before);
});

test.each([
  [
    "around a field that is cast",
    `m.renameColumn("n", "o", "q"), m.retypeColumn("n", "q.x", m.int64()), m.setNullable("n", "q", false),`,
    "n.o is null in 1 row now",
  ],
  [
    "in a column that is added from another",
    `m.addColumn("n", "b", m.int32(), { as: "a" }), m.setNullable("n", "b", false),`,
    "n.b is not null, and a is null in 1 row now",
  ],
])("nulls %s in a step before are found in advance", async (_, steps, problem) => {
  const project = aProject();
  const columns = "{ a: m.int32(), o: m.struct({ x: m.int32() }), l: m.list(m.int32()) }";
  project.migration("0001_create.ts", `m.createTable("n", ${columns}), m.createTable("u", { x: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const rows = [
    { a: 1, o: { x: 1 }, l: [1] },
    { a: null, o: null, l: null },
  ];
  await addRows(project.database, "n", rows);
  project.migration("0002_first.ts", `m.addColumn("u", "first", m.int8()),`);
  project.migration("0003_second.ts", steps);
  const before = await versionsOf(project.database);
  const refused = await project.migrate(["up", "--accept", "lossy"]);
  expect(refused).toMatchObject(onStderr(4, problem));
  expect(await versionsOf(project.database)).toEqual(before);
});

test.each([
  ["fills them", `m.execute("t", { update: { a: "0" }, where: "a is null" }),`],
  ["makes the column anew", `m.retypeColumn("t", "a", m.int64(), { using: "coalesce(a, 0)" }),`],
])("nulls are no reason to refuse where a step before %s", async (_, step) => {
  const project = await aTable(`m.setNullable("t", "a", false),`, step);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
});

test("a saved plan is refused, and not used up, where the application has added nulls since", async () => {
  const project = await aTable(`m.setNullable("t", "s", false),`);
  const t = await (await lancedb.connect(project.database)).openTable("t");
  await t.delete("s is null");
  expect(await project.migrate(["plan", "--out", "p.json"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [{ id: 3, a: 1, s: null, v: vector }]);
  expect(await project.migrate(["up", "--plan", "p.json"])).toMatchObject(onStderr(4, "t.s is null in 1 row now"));
  await t.checkoutLatest();
  await t.delete("s is null");
  expect(await project.migrate(["up", "--plan", "p.json"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "t")).toHaveLength(1);
});

test.each([
  ["a null", `m.setNullable("t", "a", false),`, "t.a is null in 1 row now", "a = 0"],
  ["a value that does not fit", `m.retypeColumn("t", "big", m.int8()),`, "1 row of t.big can't become int8", "big = 1"],
  [
    "a value that can't be worked out",
    `m.addColumn("t", "n", m.int8(), { as: "cast(s as int)" }),`,
    "its values can't be worked out: ",
    "s = '7'",
  ],
])(
  "%s in the first call of a run refuses the run as plan does, and leaves nothing",
  async (_, step, problem, fixed) => {
    const project = aProject();
    project.migration(
      "0001_create.ts",
      `m.createTable("t", { big: m.int64().notNull(), a: m.int64(), s: m.utf8() }, { rows: [{ big: 1000, s: "seven" }] }),`,
    );
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    project.migration("0002_first.ts", step);
    const { t: before } = await versionsOf(project.database);
    const { stderr: expected } = await project.migrate(["plan"]);
    expect(expected).toContain(problem);
    expect(await project.migrate(["up"])).toMatchObject(onStderr(4, expected));
    expect(await versionsOf(project.database)).toMatchObject({ t: before });
    expect((await project.migrate(["status"])).stdout).toContain("pending  0002_first\n");
    expect((await project.migrate(["history"])).stdout).not.toContain("0002");
    const t = await (await lancedb.connect(project.database)).openTable("t");
    const [column, value] = fixed.split(" = ") as [string, string];
    await t.update({ valuesSql: new Map([[column, value]]) });
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  },
);

test("what a saved plan does first is asked before, so that a refusal does not use it up", async () => {
  const project = aProject();
  project.migration("0001_create.ts", `m.createTable("t", { a: m.int64() }, { rows: [{ a: 1 }] }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_first.ts", `m.setNullable("t", "a", false),`);
  expect(await project.migrate(["plan", "--out", "p.json"])).toMatchObject({ code: 0 });
  const t = await (await lancedb.connect(project.database)).openTable("t");
  await t.add([{ a: null }]);
  expect(await project.migrate(["up", "--plan", "p.json"])).toMatchObject({ code: 4 });
  await t.delete("a is null");
  expect(await project.migrate(["up", "--plan", "p.json"])).toMatchObject({ code: 0 });
});

/** A table `t(a, b)` into which an application appended only `a`. */
async function aTableOfOneColumn(): Promise<Project> {
  const project = aProject();
  project.migration("0001_create.ts", `m.createTable("t", { a: m.int32(), b: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [{ a: 1 }, { a: 2 }]);
  return project;
}

test("dropping the only column that rows have values of is refused, until a step before writes another one", async () => {
  const project = await aTableOfOneColumn();
  const lose = ["--accept", "lossy"];
  project.migration("0002_drop.ts", `m.renameColumn("t", "a", "c"), m.dropColumn("t", "c"),`);
  expect(await project.migrate(["up", ...lose])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('execute with { update: { "`b`": "null" }, where: "`b` is null" }'),
  });
  expect(await rowsOf(project.database, "t")).toEqual([
    { a: 1, b: null },
    { a: 2, b: null },
  ]);
  project.migration(
    "0002_drop.ts",
    'm.execute("t", { update: { \'`b`\': "null" }, where: "`b` is null" }), m.dropColumn("t", "a"),',
  );
  expect(await project.migrate(["up", ...lose])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "t")).toEqual([{ b: null }, { b: null }]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
});

test("two steps that drop all that rows have values of are refused", async () => {
  const project = await aTableOfOneColumn();
  project.migration("0002_add.ts", `m.addColumn("t", "c", m.int32()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [{ a: 3, c: 3 }]);
  await (await (await lancedb.connect(project.database)).openTable("t")).delete("a < 3");
  project.migration("0003_drop.ts", `m.dropColumn("t", "a"), m.addColumn("t", "d", m.int8()), m.dropColumn("t", "c"),`);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject(
    onStderr(4, "0003_drop.ts, step 3 (dropColumn) would fail: "),
  );
});
