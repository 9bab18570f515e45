import { expect, test } from "vitest";
import { int8, int64, utf8 } from "../../../src/schema/declare/type-builders.ts";
import { tablesAfter } from "../../../src/actions/apply-action.ts";
import { btree } from "../../../src/schema/declare/index-builders.ts";
import { change, type Table } from "../../../src/schema/table.ts";
import * as kinds from "../../../src/steps/index.ts";
import { compileStep, parseStep, stepNames } from "../../../src/steps/registry.ts";

const step = kinds.renameColumn("t", "a", "b");

test("the kinds are what steps/index.ts exports, under their own names", () => {
  expect(stepNames).toEqual(Object.keys(kinds));
  for (const [name, { kind }] of Object.entries(kinds)) expect(kind).toBe(name);
});

test.each([
  ["renameColum", "there is no step kind renameColum; did you mean renameColumn?"],
  ["RetypeColumn", "there is no step kind RetypeColumn; did you mean retypeColumn?"],
  ["createtable", "there is no step kind createtable; did you mean createTable?"],
  ["addVectorIndex", "there is no step kind addVectorIndex"],
  ["", "there is no step kind "],
  ["toString", "there is no step kind toString"],
  ["__proto__", "there is no step kind __proto__"],
  ["constructor", "there is no step kind constructor"],
])("the kind %j is refused: %s", (kind, problem) => {
  expect(parseStep({ ...step, kind })).toEqual({ problem, kind });
});

test.each([undefined, null, 5, "renameColumn", [[]], {}, { kind: 5 }])("%j is no step", (value) => {
  expect(parseStep(value)).toEqual({
    problem: `is not a step; create one with ${stepNames.join(", ")}`,
  });
});

test("a builder that was not called is told so", () => {
  expect(parseStep(kinds.renameColumn)).toEqual({ problem: "is a function; call it with its arguments" });
});

const finite = "a migration holds finite numbers only: use null, or write the value from your application";

test.each<[string, unknown, string]>([
  ["a function", () => "b", "name is a function; a step must be plain data"],
  ["a symbol", Symbol("b"), "name is a symbol; a step must be plain data"],
  ["a big integer", 5n, 'name is a bigint; write it as text: "5"'],
  ["a date", new Date(0), "name is a Date; write it as text, such as 2026-11-20T12:00:00Z"],
  ["a map", new Map(), "name is a Map; a step must be plain data"],
  ["a set", new Set(), "name is a Set; a step must be plain data"],
  ["a typed array", new Float32Array(2), "name is a Float32Array; write it as a plain array: [...values]"],
  ["NaN", Number.NaN, `name is NaN; ${finite}`],
  ["infinity", Infinity, `name is Infinity; ${finite}`],
])("a step that holds %s is refused: JSON would change it", (_, name, problem) => {
  expect(parseStep({ ...step, name })).toEqual({ problem, kind: step.kind });
});

test("what is not plain data is found at any depth", () => {
  const columns = [{ name: "a", type: { kind: "fixedSizeBinary", length: Number.NaN }, nullable: true }];
  expect(parseStep({ kind: "createTable", table: "t", columns })).toEqual({
    problem: `columns[0].type.length is NaN; ${finite}`,
    kind: "createTable",
  });
});

test("a step that contains itself is refused, as JSON would refuse it", () => {
  const circle: Record<string, unknown> = { ...step };
  circle["name"] = circle;
  expect(parseStep(circle)).toMatchObject({ kind: "renameColumn", problem: expect.any(String) });
});

test("what a step is parsed to is a copy: a later change of the exported value changes nothing", () => {
  const value = { ...step };
  const parsed = parseStep(value);
  value.name = "c";
  expect(parsed).toEqual({ step });
});

test("every kind compiles to actions that the fold knows", () => {
  const steps = [
    kinds.createTable("t", { a: int8(), c: int8() }),
    kinds.renameColumn("t", "a", "b"),
    kinds.retypeColumn("t", "b", int64()),
    kinds.setNullable("t", "b", false),
    kinds.alterColumns("t", [
      { path: "b", rename: "c" },
      { path: "c", rename: "b" },
    ]),
    kinds.addColumn("t", "d", int8()),
    kinds.addComputedColumn("t", "e", int64(), "d * 2"),
    kinds.refreshColumn("t", "e"),
    kinds.setMetadata("t", "d", { unit: "EUR" }),
    kinds.dropColumn("t", "b"),
    kinds.createIndex("t", "c", btree()),
    kinds.createIndex("t", "d", btree()),
    kinds.dropIndex("t", "c_idx"),
    kinds.insertRows("t", [{ c: "1" }], { key: "c" }),
    kinds.execute("t", { delete: "c = 1" }),
    kinds.backfillColumn("t", "d", { from: ["e"], key: "c", with: "./d.ts", version: "1" }),
    kinds.optimizeTable("t"),
    kinds.rebuildIndex("t", "d_idx"),
    kinds.addColumn("t", "f", int8()),
    kinds.reembedColumn("t", "f", {
      type: int64(),
      from: ["e"],
      key: "c",
      with: "./f.ts",
      version: "2",
      keep: "g",
      index: btree(),
    }),
    kinds.createTable("u", { a: int8(), of: int64(), from: utf8() }),
    kinds.populateTable("u", {
      from: "t",
      columns: ["d"],
      key: "c",
      source: "of",
      mark: "from",
      with: "./u.ts",
      version: "1",
    }),
    kinds.dropTable("u"),
    kinds.renameTable("t", "v"),
  ];
  expect([...new Set(steps.map(({ kind }) => kind))].toSorted()).toEqual(stepNames.toSorted());
  const database = new Map<string, Table>();
  for (const action of steps.flatMap((step) => compileStep(step))) change(database, tablesAfter(database, action));
  expect([...database]).toEqual([
    [
      "v",
      {
        columns: [
          { name: "c", type: { kind: "int64" }, nullable: false },
          { name: "d", type: { kind: "int8" }, nullable: true, metadata: { unit: "EUR" } },
          { name: "e", type: { kind: "int64" }, nullable: true, computed: "d * 2" },
          { name: "g", type: { kind: "int8" }, nullable: true },
          { name: "f", type: { kind: "int64" }, nullable: true },
        ],
        indexes: {
          c_idx: null,
          d_idx: { path: "d", kind: "btree", options: {} },
          f_idx_2: { path: "f", kind: "btree", options: {} },
        },
      },
    ],
  ]);
});

// Without `moved`, migrate rebase keeps what such a field holds, so it must not be the name of an existing column.
test("a field besides table and path is moved with the names in it, or is known to hold none of existing columns", () => {
  const unmoved = Object.values(kinds).flatMap(({ kind, fields, moved }) =>
    // That of a kind without its own takes no parameters.
    moved.length > 0 ? [] : othersOf(fields).map((field) => `${kind}.${field}`),
  );
  expect(unmoved).toEqual([
    "createTable.columns",
    "createTable.rows",
    "createTable.metadata",
    "dropIndex.name",
    "rebuildIndex.name",
    "renameColumn.name",
    "renameTable.name",
    "setMetadata.metadata",
    "setMetadata.replace",
    "setNullable.nullable",
  ]);
});

function othersOf(fields: object): readonly string[] {
  return Object.keys(fields).filter((field) => !["table", "path"].includes(field));
}
