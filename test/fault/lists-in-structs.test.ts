/** Writes that bring rows together that the engine can't read from one file (docs/internals/engine.md, "Lists in structs"). */
import { makeArrowTable } from "@lancedb/lancedb";
import * as arrow from "apache-arrow";
import { expect, test } from "vitest";
import { aProject, onStderr } from "../support/project.ts";
import { aService, apiKey } from "../support/service.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

const field = (name: string, type: arrow.DataType, nullable = true) => new arrow.Field(name, type, nullable);
const items = field("items", new arrow.List(field("item", new arrow.Utf8())));
const long = "x".repeat(256);

interface Shape {
  readonly type: string;
  readonly s: arrow.Field;
  /** Of three rows, each in a file of its own. */
  readonly values: readonly unknown[];
  /** The values with which the engine can read them. */
  readonly better: readonly unknown[];
}

const shapes: Readonly<Record<string, Shape>> = {
  "a list in a struct": {
    type: `m.struct({ items: m.list(m.utf8()) })`,
    s: field("s", new arrow.Struct([items])),
    values: [{ items: [long, null, "y"] }, { items: null }, null],
    better: [{ items: [long, null, "y"] }, { items: [] }, null],
  },
  "a list in a struct in a struct that is not null": {
    type: `m.struct({ in: m.struct({ items: m.list(m.utf8()) }) }).notNull()`,
    s: field("s", new arrow.Struct([field("in", new arrow.Struct([items]))]), false),
    values: [{ in: { items: [long, null, "y"] } }, { in: { items: null } }, { in: null }],
    better: [{ in: { items: [long, null, "y"] } }, { in: { items: [] } }, { in: null }],
  },
  "a list in a struct in a list": {
    type: `m.list(m.struct({ items: m.list(m.utf8()) }))`,
    s: field("s", new arrow.List(field("item", new arrow.Struct([items])))),
    values: [[{ items: [long, null, "y"] }], [{ items: null }], [null]],
    better: [[{ items: [long, null, "y"] }], [{ items: [] }], [null]],
  },
};

async function add(folder: string, { s }: Shape, values: readonly unknown[]): Promise<void> {
  const t = await (await lancedb.connect(folder)).openTable("t");
  await t.delete("true");
  const schema = new arrow.Schema([field("id", new arrow.Int32(), false), field("n", new arrow.Int32()), s]);
  for (const [id, value] of values.entries()) await t.add(makeArrowTable([{ id, n: 0, s: value }], { schema }));
}

const steps: Readonly<Record<string, string>> = {
  optimizeTable: `m.optimizeTable("t")`,
  execute: `m.execute("t", { update: { n: "id" } })`,
  backfillColumn: `m.addColumn("t", "c", m.int32()), m.backfillColumn("t", "c", { key: "id", from: ["n"], with: { sql: "n * 2" }, version: "1" })`,
};

const cases = Object.keys(steps).flatMap((step) =>
  Object.keys(shapes).flatMap((shape) =>
    ["lance", "rest"].flatMap((kind) => {
      // A service has no request for it.
      const isSupported = step !== "optimizeTable" || kind === "lance";
      // The shapes are read in the same way, whatever has written them.
      return isSupported && (step === "execute" || shape === "a list in a struct")
        ? [[step, shape, kind] as const]
        : [];
    }),
  ),
);

// For each commit, the cases of one kind of target and those of the other one in turn.
test.each(ofThisCommit(cases, 2))(
  "%s on a table with %s, on %s, leaves rows that can be read",
  async (step, name, kind) => {
    const project = aProject();
    const shape = shapes[name]!;
    const target =
      kind === "lance"
        ? { kind, uri: project.database }
        : { kind, endpoint: (await aService(project.database)).url, dialect: "namespace", apiKey };
    project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
    project.migration("0001_t.ts", `m.createTable("t", { id: m.int32().notNull(), n: m.int32(), s: ${shape.type} })`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    await add(project.database, shape, shape.values);
    const rows = await rowsOf(project.database, "t");
    project.migration("0002_write.ts", steps[step]!);
    expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /the engine can't read s after that: .* empty lists instead of null .*was restored/,
      ) as string,
    });
    const kept = (await rowsOf(project.database, "t")).map(({ id, n, s }) => ({ id, n, s }));
    expect(kept).toEqual(rows);
    await add(project.database, shape, shape.better);
    expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
    expect(await rowsOf(project.database, "t")).toHaveLength(3);
  },
);

test("insertRows of such rows is undone", async () => {
  const project = aProject();
  project.migration(
    "0001_t.ts",
    `m.createTable("t", { id: m.int32().notNull(), s: ${shapes["a list in a struct"]!.type} })`,
  );
  const values = shapes["a list in a struct"]!.values.map((s, id) => ({ id, s }));
  project.migration("0002_rows.ts", `m.insertRows("t", ${JSON.stringify(values)}, { key: "id" })`);
  expect(await project.migrate(["up"])).toMatchObject(onStderr(1, "can't read s"));
  expect(await rowsOf(project.database, "t")).toEqual([]);
});
