/** Models and schemas that `migrate types` writes for Python, with the real client. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as m from "lance-migrate";
import type { Column } from "../../src/schema/data-type.ts";
import { typeSource } from "../../src/schema/text/typescript-source.ts";
import { layOut } from "../../src/features/shared/print-source.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { drawnRows } from "../support/drawn-rows.ts";
import { lacks } from "../support/needs.ts";
import { aProject, onStderr } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";

const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");

const types: readonly m.ColumnType[] = [
  m.int8(),
  m.int16(),
  m.int32(),
  m.int64(),
  m.uint8(),
  m.uint16(),
  m.uint32(),
  m.uint64(),
  m.float16(),
  m.float32(),
  m.float64(),
  m.bool(),
  m.utf8(),
  m.largeUtf8(),
  m.binary(),
  m.largeBinary(),
  m.fixedSizeBinary(4),
  m.decimal128(10, 2),
  m.date32(),
  m.date64(),
  m.nullType(),
  m.time32("s"),
  m.time32("ms"),
  m.time64("us"),
  m.time64("ns"),
  ...(["s", "ms", "us", "ns"] as const).flatMap((unit) => [
    m.timestamp(unit),
    m.timestamp(unit, "UTC"),
    m.duration(unit),
  ]),
  m.dictionary(m.int32(), m.utf8()),
  m.dictionary(m.int8(), m.int64()),
  m.vector(4),
  m.vector(4, m.float16()),
  m.vector(4, m.float64()),
  m.fixedSizeList(m.int8(), 2),
  m.list(m.int64()),
  m.list(m.utf8().notNull()),
  m.list(m.list(m.int8())),
  m.list(m.timestamp("us")),
  m.list(m.struct({ text: m.utf8(), at: m.list(m.int32()) })),
  m.struct({ url: m.utf8(), size: m.int64().notNull(), more: m.struct({ x: m.list(m.utf8()) }) }),
];

/** How many types one table has: with one each, a mistake is in a table of its own, and the client takes much longer. */
const together = rounds(8, 1);
/** The types of Python hold no fractions of a microsecond. */
const isTooFine = ({ type }: m.ColumnType) => "unit" in type && type.unit === "ns";
const tables = [types.filter((type) => !isTooFine(type)), types.filter(isTooFine)].flatMap((some) =>
  Array.from({ length: Math.ceil(some.length / together) }, (_, at) => some.slice(at * together, (at + 1) * together)),
);

const columnsOf = (own: readonly m.ColumnType[]): readonly Column[] => [
  { name: "id", type: { kind: "int32" }, nullable: false },
  ...own.map(({ type, nullable }, at): Column => ({ name: `x${at}`, type, nullable })),
];

const call = (type: m.ColumnType) => layOut(typeSource(type.type), { indent: 0, used: 0, tail: 0, prefix: "m." });

/** Most tables have two rows of the JavaScript client. Prints the problems. */
const check = `
import pathlib, lancedb, models
db = lancedb.connect(pathlib.Path(".lancedb").resolve())
for name in [name for name in db.list_tables(limit=1000).tables if name.startswith("t")]:
    try:
        table, model = db.open_table(name), getattr(models, name.upper())
        assert table.schema.equals(model.to_arrow_schema()), "schema"
        found = table.search().limit(9).to_pydantic(model)
        if found:
            table.add(found)
        table.add([model(id=1000)])
        again = table.search().limit(9).to_pydantic(model)
        assert sorted(map(repr, again)) == sorted(map(repr, [*found, *found, model(id=1000)])), f"{found} {again}"
        db.create_table(f"copy_of_{name}", schema=model)
    except BaseException as error:
        print(name, type(error).__name__, str(error)[:200])
`;

test.skipIf(lacks("python"))("rows of every type are read and added with the models", async () => {
  const python = pythonWith(...officialPackages);
  const project = aProject();
  const calls = tables.map((own, at) => {
    const columns = own.map((type, place) => `x${place}: ${call(type)}`);
    return `m.createTable("t${at}", { id: m.int32().notNull(), ${columns.join(", ")} }),`;
  });
  project.migration("0001_tables.ts", calls.join("\n"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["types", "--out", "models.py"])).toMatchObject({ code: 0 });
  const db = await lancedb.connect(project.database);
  for (const [at, own] of tables.entries())
    if (!own.some(isTooFine))
      await (await db.openTable(`t${at}`)).add(arrow.tableFromIPC(drawnRows(columnsOf(own), 2)));
  expect(execFileSync(python, ["-c", check], { cwd: project.folder, encoding: "utf8" })).toBe("");
});

/** Adds a row to each table of odd columns, and reads it. */
const checkOdd = `
import datetime, pathlib, lancedb, models
db = lancedb.connect(pathlib.Path(".lancedb").resolve())
orders = db.open_table("orders")
orders.add([models.Orders(id=1, price=2.5)])
[row] = orders.search().to_pydantic(models.OrdersRow)
assert isinstance(row, models.Orders)
print(repr(row))
assert orders.schema.equals(models.OrdersRow.to_arrow_schema())
days = db.open_table("days")
days.add([models.Days(date=datetime.date(2026, 1, 2), bytes=3, größe=4, Struct=models.DaysStruct(date=datetime.date(2026, 1, 3)))])
print(days.search().to_pydantic(models.Days))
for name in ["spaces", "keyword", "hidden", "inherited", "inside"]:
    assert not hasattr(models, name.capitalize())
    assert db.open_table(name).schema.equals(getattr(models, name + "_schema")), name
`;

test.skipIf(lacks("python"))(
  "computed columns are read only, and a table with other odd columns has a schema",
  async () => {
    const project = aProject();
    project.migration(
      "0001_tables.ts",
      `m.createTable("orders", { id: m.int64().notNull(), price: m.float64() }),
    m.addComputedColumn("orders", "total", m.float64(), "price * 2"),
    m.createTable("days", { date: m.date32(), bytes: m.int64(), größe: m.int64(), Struct: m.struct({ date: m.date32() }) }),
    m.createTable("spaces", { id: m.int64(), "first name": m.utf8() }),
    m.createTable("keyword", { class: m.utf8() }),
    m.createTable("hidden", { datetime: m.date32() }),
    m.createTable("inherited", { copy: m.utf8() }),
    m.createTable("inside", { some: m.list(m.struct({ more: m.struct({ "a-b": m.int32() }) })) }),`,
    );
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["types", "--out", "models.py"])).toMatchObject({ code: 0 });
    const python = pythonWith(...officialPackages);
    const printed = execFileSync(python, ["-c", checkOdd], { cwd: project.folder, encoding: "utf8" });
    expect(printed).toBe(`OrdersRow(id=1, price=2.5, total=None)
[Days(date=datetime.date(2026, 1, 2), bytes=3, größe=4, Struct=DaysStruct(date=datetime.date(2026, 1, 3)))]
`);
  },
);

test("the configuration may name several files, each of which is checked and kept", async () => {
  const project = aProject();
  const { migrate, write } = project;
  write("migrate.config.ts", `export default { types: ["src/db.ts", "app/models.py"] };`);
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int64().notNull() }),`);
  expect(await migrate(["types"])).toMatchObject({
    stdout: "wrote migrations/history.d.ts\nwrote src/db.ts\nwrote app/models.py\n",
  });
  expect(await migrate(["new", "titles", "--add-column", "documents.title:utf8"])).toMatchObject({ code: 0 });
  const textOf = (file: string) => readFileSync(join(project.folder, file), "utf8");
  expect(textOf("src/db.ts")).toContain("  title: string | null;\n");
  expect(textOf("app/models.py")).toContain("    title: Optional[str] = None\n");
  expect(await migrate(["types", "--check"])).toMatchObject({
    stdout: "equal: migrations/history.d.ts, src/db.ts and app/models.py are up to date\n",
  });
  write("app/models.py", "documents = 1\n");
  expect(await migrate(["types"])).toMatchObject(onStderr(2, "app/models.py is there"));
});
