/** A column that gets the values of an expression needs consent if rows lose their own, however that is written. */
import { expect, test } from "vitest";
import { aProject, type Project, onStderr } from "../support/project.ts";
import { addRows, rowsOf } from "../support/tables.ts";
import { aProjectOn, key } from "./support/project-on.ts";

const create = `m.createTable("t", { id: m.int32().notNull(), c: m.utf8(), n: m.int32(), f: m.float64(), s: m.struct({ a: m.float64(), b: m.utf8() }), l: m.list(m.float64()), v: m.vector(2), d: m.utf8(), k: m.utf8(), ls: m.list(m.utf8()), w: m.utf8(), lk: m.list(m.utf8()) }),`;
const rows = [
  {
    id: 1,
    c: "apple",
    n: 7,
    f: 1.5,
    s: { a: 1, b: "x" },
    l: [1.5, 2],
    v: [1, 2],
    d: "2020-01-01 10:30:00.5",
    k: "1.239",
    ls: ["2020-01-01 10:30:00"],
    w: "2026-11-20T10:00:00.1234567",
    lk: ["1.239"],
  },
  {
    id: 2,
    c: "12",
    n: 300,
    f: 2,
    s: { a: null, b: "y" },
    l: [3],
    v: [3, 4],
    d: "2020-01-02",
    k: "2",
    ls: ["2020-01-01"],
    w: "2026-11-20T10:00:00.123456000",
    lk: ["7"],
  },
  { id: 3, c: null, n: null, f: null, s: null, l: null, v: null, d: null, k: null, ls: null, w: null, lk: null },
];

async function aTable(...steps: readonly string[]): Promise<Project> {
  return await withRows(aProject(), steps);
}

async function withRows(project: Project, steps: readonly string[]): Promise<Project> {
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", rows);
  for (const [index, step] of steps.entries()) project.migration(`000${index + 2}_step.ts`, step);
  return project;
}

const retype = (column: string, type: string, using: string) =>
  `m.retypeColumn("t", "${column}", m.${type}, { using: ${JSON.stringify(using)} }),`;
const pair = "struct({ a: m.float64(), b: m.utf8() })";

/** A column, its new type, the expression, and what is said if it needs consent. */
const losing = [
  ["c", "utf8()", "'gone'", "'gone' does not read it"],
  ["c", "utf8()", "nullif(1, 1)", "nullif(1, 1) does not read it"],
  ["c", "utf8()", "cast(id as string)", "does not read it"],
  ["c", "utf8()", "left(c, 1)", ": 2 rows now"],
  ["c", "utf8()", "nullif(c, c)", ": 2 rows now"],
  ["c", "utf8()", "concat('gone', left(c, 0))", ": 2 rows now"],
  ["c", "utf8()", "case when id = 1 then c end", ": 1 row now"],
  ["c", "utf8()", "upper(c)", ": 1 row now"],
  ["c", "utf8()", "case when random() < 2 then c end", "values of t.c are lost where"],
  [
    "c",
    "utf8()",
    "case when now() > arrow_cast('2020-01-01', 'Timestamp(Nanosecond, None)') then c end",
    "values of t.c are lost where",
  ],
  ["c", "float64()", "try_cast(c as double)", ": 1 row now"],
  ["c", "int32()", "length(c)", ": 2 rows now"],
  ["n", "int32()", "n * 0", ": 2 rows now"],
  ["n", "int8()", "try_cast(n as tinyint)", ": 1 row now"],
  ["f", "float64()", "cast(f as int)", ": 1 row now"],
  ["f", "float64()", "cast(cast(f as float) as int)", ": 1 row now"],
  ["s", pair, "named_struct('a', s.a, 'b', upper(s.b))", ": 2 rows now"],
  ["s", pair, "case when id = 1 then s end", ": 1 row now"],
  ["s", "struct({ a: m.float64() })", "s", "values of t.s.b are lost"],
  ["s", "utf8()", "s.b", ": 2 rows now"],
  ["l", "list(m.int32())", "l", "may silently truncate values"],
  ["d", "date32()", "d", ": 1 row now"],
  ["d", "date32()", "cast(d as date)", ": 1 row now"],
  ["d", "timestamp('s')", "d", ": 1 row now"],
  ["k", "decimal128(10, 2)", "k", ": 1 row now"],
  ["k", "decimal128(38, 2)", "cast(k as decimal(38, 2))", ": 1 row now"],
  ["lk", "list(m.decimal128(38, 2))", "lk", ": 1 row now"],
  ["w", "timestamp('us')", "cast(w as timestamp)", ": 1 row now"],
  ["w", "date32()", "w", ": 2 rows now"],
  ["ls", "list(m.date32())", "ls", ": 1 row now"],
  ["f", "timestamp('s')", "f", "may silently truncate values"],
  ["l", "list(m.float64())", "array_slice(l, 1, 1)", ": 1 row now"],
  ["v", "vector(3)", "case when v is null then arrow_cast(null, 'FixedSizeList(3, Float32)') end", ": 2 rows now"],
] as const;

/** A dry run counts rows and asks for consent as the run itself does, and leaves the table to the next case. */
test("what loses values needs consent, with the number of rows", async () => {
  const project = await aTable();
  for (const [column, type, using, words] of losing) {
    project.migration("0002_step.ts", retype(column, type, using));
    const { stderr, code } = await project.migrate(["up", "--dry-run"]);
    expect({ using, code, stderr }).toEqual({ using, code: 4, stderr: expect.stringContaining(words) });
    expect(stderr).toContain("--accept lossy");
  }
  const before = await rowsOf(project.database, "t");
  expect(await project.migrate(["up"])).toMatchObject(onStderr(4, "--accept lossy"));
  expect(await rowsOf(project.database, "t")).toEqual(before);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
});

const keeping = [
  ["n", "utf8()", "cast(n as string)"],
  ["n", "int64()", "n"],
  ["n", "int64()", "try_cast(n as bigint)"],
  ["n", "int32()", "coalesce(n, 0)"],
  ["n", "int32()", "nullif(n, 8)"],
  ["c", "utf8()", "coalesce(lower(c), 'none')"],
  ["c", "utf8()", "case when c is null then cast(id as string) else c end"],
  ["s", "struct({ a: m.float64(), b: m.utf8(), z: m.int32() })", "s"],
  [
    "s",
    "struct({ a: m.float64(), b: m.utf8(), z: m.utf8() })",
    "case when s is not null then named_struct('a', s.a, 'b', s.b, 'z', c) end",
  ],
  ["l", "list(m.float64())", "l"],
  ["d", "timestamp('ms')", "d"],
  ["d", "timestamp('ns', 'UTC')", "d"],
  ["k", "decimal128(10, 3)", "k"],
  ["k", "decimal128(38, 3)", "k"],
  ["lk", "list(m.decimal128(38, 3))", "lk"],
  ["w", "timestamp('ns')", "w"],
  ["k", "float64()", "cast(k as double)"],
  ["n", "timestamp('s')", "n"],
] as const;

test("what loses nothing needs no consent", async () => {
  const project = await aTable();
  for (const [column, type, using] of keeping) {
    project.migration("0002_step.ts", retype(column, type, using));
    expect({ using, ...(await project.migrate(["up", "--dry-run"])) }).toMatchObject({ using, code: 0 });
  }
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "t")).toHaveLength(3);
});

test("a service counts the rows that lose their values", async () => {
  const { data, migrate, ...rest } = await aProjectOn("namespace");
  const service = { ...rest, migrate: (args: readonly string[]) => migrate(args, key), database: data };
  const project = await withRows(service, [
    retype("n", "int64()", "coalesce(n, 0)"),
    retype("s", pair, "case when id = 1 then s end"),
  ]);
  expect(await project.migrate(["up", "--to", "2"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject(onStderr(4, ": 1 row now"));
});

test("a loss that rows decide is noted by lint and plan where there are no rows yet", async () => {
  const project = aProject();
  project.migration("0001_create.ts", create);
  project.migration("0002_left.ts", retype("c", "utf8()", "left(c, 1)"));
  const words = "values of t.c are lost where left(c, 1) differs from a cast of the value to utf8";
  expect(await project.migrate(["lint"])).toMatchObject({
    stdout: expect.stringContaining(`${words}; up asks for consent if there are such rows`),
  });
  expect(await project.migrate(["plan"])).toMatchObject({ stdout: expect.stringContaining(words) });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

test("an expression that does not read the column needs consent without rows too", async () => {
  const project = aProject();
  project.migration("0001_create.ts", create);
  project.migration("0002_gone.ts", retype("c", "utf8()", "'gone'"));
  expect(await project.migrate(["up"])).toMatchObject(onStderr(4, "--accept lossy"));
});

test("rows that earlier steps of the run change are unknown, and need consent", async () => {
  const project = await aTable(
    `m.execute("t", { update: { n: "5" }, where: "n is null" }),`,
    retype("n", "int32()", "nullif(n, 5)"),
  );
  expect(await project.migrate(["up"])).toMatchObject(
    onStderr(4, "the number of rows is unknown, because they can't be counted here"),
  );
});

test("rows are counted behind steps of the run that leave them as they are", async () => {
  const before = `m.addColumn("t", "more", m.utf8()), m.renameColumn("t", "f", "g"),`;
  const project = await aTable(before, retype("n", "int32()", "coalesce(n, 0)"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});
