import {
  addColumn,
  createTable,
  defineSchema,
  float32,
  float64,
  int32,
  int64,
  list,
  retypeColumn,
  struct,
  table,
  utf8,
  btree,
  fts,
} from "lance-migrate";
import { expect, test } from "vitest";
import { areAlike, diff, type DiffOptions } from "../../../../../src/features/author/generate/diff-tables.ts";
import { tablesAfter } from "../../../../../src/actions/apply-action.ts";
import type { ColumnType } from "../../../../../src/schema/typed/shape.ts";
import { type Column, childColumns, withChildColumns } from "../../../../../src/schema/data-type.ts";
import { change, differences, type Database, type Table } from "../../../../../src/schema/table.ts";
import { compileStep, type Step } from "../../../../../src/steps/registry.ts";
import * as fc from "../../../../support/fast-check.ts";
import { answered, schemaPair } from "../../../../support/schema-pairs.ts";
import { rounds } from "../../../../support/rounds.ts";

const nothing = { steps: [], unsure: [], impossible: [], unused: [] };

type Declared = Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;

function databaseOf(tables: Declared): Database {
  const all = new Map<string, Table>();
  for (const [name, columns] of Object.entries(tables))
    for (const action of compileStep(createTable(name, columns))) change(all, tablesAfter(all, action));
  return all;
}

function after(from: Database, steps: readonly Step[]): Database {
  const all = new Map(from);
  for (const action of steps.flatMap(compileStep)) change(all, tablesAfter(all, action));
  return all;
}

/** Of two with the same names the second in the order of the first. */
function ordered(like: readonly Column[], columns: readonly Column[]): readonly Column[] {
  return like.flatMap((one) => {
    const found = columns.find(({ name }) => name === one.name);
    return found === undefined
      ? []
      : [{ ...found, type: withChildColumns(found.type, ordered(childColumns(one.type), childColumns(found.type))) }];
  });
}

test("what steps are found leads there, and where none are found it is said why", () => {
  const seen = { steps: 0, none: 0, impossible: 0 };
  fc.assert(
    fc.property(schemaPair, fc.boolean(), ({ from, to, answers }, renamesTables) => {
      const found = answered((given) => diff(from, to, { answers: given, renamesTables }), answers);
      if (found.impossible.length > 0) {
        seen.impossible++;
        for (const words of found.impossible) expect(words).toMatch(/\S/);
        return;
      }
      seen[found.steps.length === 0 ? "none" : "steps"]++;
      const end = after(from, found.steps);
      expect([...end.keys()].toSorted()).toEqual([...to.keys()].toSorted());
      for (const [name, wanted] of to) {
        const { columns } = end.get(name)!;
        expect(columns).toHaveLength(wanted.columns.length);
        expect(differences(wanted, { columns: ordered(wanted.columns, columns) })).toEqual([]);
      }
      expect(diff(end, to, { renamesTables })).toEqual(nothing);
    }),
    { numRuns: rounds(700, 2_000) },
  );
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(rounds(15, 50));
});

const d = { id: int32(), title: utf8(), source: struct({ url: utf8(), at: int32() }) };

const found = (from: Declared, to: Declared, options?: DiffOptions) => diff(databaseOf(from), databaseOf(to), options);

test("each change is its step", () => {
  const wanted = {
    id: int64().notNull(),
    title: utf8(),
    source: struct({ url: utf8().notNull() }),
    tags: list(utf8()),
  };
  expect(found({ d, e: { a: int32() } }, { d: wanted, f: { a: float32() } })).toEqual({
    steps: [
      { kind: "retypeColumn", table: "d", path: "id", type: { kind: "int64" } },
      { kind: "setNullable", table: "d", path: "id", nullable: false },
      { kind: "setNullable", table: "d", path: "source.url", nullable: false },
      expect.objectContaining({ kind: "addColumn", table: "d", name: "tags", nullable: true }),
      { kind: "dropColumn", table: "d", path: "source.at" },
      expect.objectContaining({ kind: "createTable", table: "f" }),
      { kind: "dropTable", table: "e" },
    ],
    unsure: [],
    impossible: [],
    unused: [],
  });
});

test.each([
  [["a", "b"], true],
  [["a", "x"], true],
  [["a", "x", "y"], false],
  [["x"], false],
])("of a table with a and b, one with %j may be the new name: %s", (names, isLike) => {
  const tableOf = (all: readonly string[]) =>
    databaseOf({ t: Object.fromEntries(all.map((name) => [name, int32()])) }).get("t")!;
  expect(areAlike(tableOf(["a", "b"]), tableOf(names))).toBe(isLike);
});

test("a table whose name another one gets in another case is dropped first", () => {
  const { steps } = found({ Docs: d, other: d }, { docs: d });
  expect(steps).toEqual([
    { kind: "dropTable", table: "Docs" },
    expect.objectContaining({ kind: "createTable", table: "docs" }),
    { kind: "dropTable", table: "other" },
  ]);
});

test("the order of columns is no difference", () => {
  const { id, title, source } = d;
  expect(found({ d }, { d: { source, title, id } })).toEqual(nothing);
});

test("of two columns that are given one name, one is renamed", () => {
  const answers = ["a", "b"].map((path) => ({ table: "d", path, name: "c" }));
  const one = found({ d: { a: utf8(), b: utf8() } }, { d: { c: utf8() } }, { answers });
  const renames = one.steps.filter(({ kind }) => kind === "renameColumn");
  expect(renames).toMatchObject([{ path: "a", name: "c" }]);
});

test("a column that is gone may be one that is new: that is asked, and not guessed", () => {
  const renamed = { id: int32(), headline: utf8(), source: struct({ link: utf8(), at: int32() }) };
  expect(found({ d }, { d: renamed }).unsure).toEqual([
    { table: "d", path: "title", names: ["headline"] },
    { table: "d", path: "source.url", names: ["link"] },
  ]);
  const answers = [
    { table: "d", path: "title", name: "headline" },
    { table: "d", path: "source.url" },
  ];
  expect(found({ d }, { d: renamed }, { answers }).impossible).toEqual([
    expect.stringMatching(
      /^d\.source\.link is new, and can't be added to the struct that it is in: say how the whole is made with --retype 'd\.source:struct<.* using SQL', where source itself as SQL keeps the other fields$/,
    ),
  ]);
  expect(found({ d }, { d: renamed }, { answers: [answers[0]!, { ...answers[1]!, name: "link" }] }).steps).toEqual([
    {
      kind: "alterColumns",
      table: "d",
      alterations: [
        { path: "title", rename: "headline" },
        { path: "source.url", rename: "link" },
      ],
    },
  ]);
  // Of what could not become it nobody asks.
  expect(found({ d: { id: int32(), title: utf8() } }, { d: { id: int32(), score: float64() } }).unsure).toEqual([]);
});

const added = { addsFields: true };

test("a new field of a struct is added where the target can, and not inside a list", () => {
  const wide = struct({ url: utf8(), at: int32(), by: struct({ name: utf8() }) });
  expect(found({ d }, { d: { ...d, source: wide } }, added).steps).toEqual([
    expect.objectContaining({ kind: "addColumn", table: "d", name: "source.by", nullable: true }),
  ]);
  expect(found({ d }, { d: { ...d, source: wide } }).impossible).toHaveLength(1);
  const parts = (...names: readonly string[]) => list(struct(Object.fromEntries(names.map((name) => [name, int32()]))));
  expect(
    found({ d: { id: int32(), parts: parts("a") } }, { d: { id: int32(), parts: parts("a", "b") } }, added),
  ).toEqual({
    ...nothing,
    impossible: [expect.stringContaining("d.parts.item.b is new, and can't be added to the struct that it is in")],
  });
});

test("a field that may be another one with a new name is added where that is said", () => {
  const renamed = { ...d, source: struct({ link: utf8(), at: int32() }) };
  const answers = [
    { table: "d", path: "source.url" },
    { table: "d", step: { kind: "addColumn", table: "d", name: "source.link", type: utf8().type, nullable: true } },
  ] as const;
  expect(found({ d }, { d: renamed }, added).unsure).toHaveLength(1);
  expect(found({ d }, { d: renamed }, { ...added, answers: [...answers] })).toEqual({
    ...nothing,
    steps: [answers[1].step, { kind: "dropColumn", table: "d", path: "source.url" }],
  });
});

test("what could only be a new name is asked about too, and what is clear is told all the same", () => {
  const from = { d: { id: int32(), kind: utf8().notNull(), meta: struct({ a: int32() }), score: float64() } };
  const to = { d: { id: int64(), category: utf8().notNull(), meta: struct({ b: int32() }) } };
  expect(found(from, to)).toEqual({
    steps: [
      { kind: "retypeColumn", table: "d", path: "id", type: { kind: "int64" } },
      { kind: "dropColumn", table: "d", path: "score" },
    ],
    unsure: [
      { table: "d", path: "kind", names: ["category"] },
      { table: "d", path: "meta.a", names: ["b"] },
    ],
    impossible: [],
    unused: [],
  });
  const answers = [{ table: "d", path: "kind" }];
  expect(found(from, to, { answers }).impossible).toEqual([expect.stringContaining("d.category is new and not null")]);
});

test("an answer that answers nothing is none: a misspelt name drops no column", () => {
  const [from, to] = [{ d: { id: int32(), title: utf8() } }, { d: { id: int32(), headline: utf8() } }];
  const misspelt = { table: "d", path: "title", name: "heading" };
  expect(found(from, to, { answers: [misspelt] })).toMatchObject({
    steps: [],
    unsure: [{ path: "title" }],
    unused: [misspelt],
  });
  for (const other of [{ table: "d", path: "id" }, { table: "d", path: "id", name: "headline" }, { table: "e" }])
    expect(found(from, to, { answers: [{ ...misspelt, name: "headline" }, other] }).unused).toEqual([other]);
});

test("two names that are exchanged are no change of names, but of types where these differ", () => {
  expect(found({ d: { a: int32(), b: int64() } }, { d: { a: int64(), b: int32() } }).steps).toHaveLength(2);
  expect(found({ d: { a: int32(), b: utf8() } }, { d: { a: utf8(), b: int32() } }).impossible[0]).toMatch(
    /^d\.a can't be made utf8 from int32: /,
  );
});

test.each([
  ["a swap", "a b", "b a"],
  ["a cycle", "a b c", "b c a"],
  ["a chain", "a b", "b c"],
  ["a swap beside a chain", "a b c d", "b a d e"],
])("%s of names is one call where the new name of each column is said", (_, before, after) => {
  const types = [int32(), utf8(), float64(), list(int32())];
  const columnsOf = (names: readonly string[]) => Object.fromEntries(names.map((name, at) => [name, types[at]!]));
  const [were, now] = [before.split(" "), after.split(" ")];
  const answers = were.map((path, at) => ({ table: "d", path, name: now[at]! }));
  const alterations = were.map((path, at) => ({ path, rename: now[at]! }));
  expect(found({ d: columnsOf(were) }, { d: columnsOf(now) }, { answers })).toEqual({
    ...nothing,
    steps: [{ kind: "alterColumns", table: "d", alterations }],
  });
  // Inside of a struct too.
  const nested = answers.map((one) => ({ ...one, path: `s.${one.path}` }));
  const [from, to] = [{ d: { s: struct(columnsOf(were)) } }, { d: { s: struct(columnsOf(now)) } }];
  expect(found(from, to, { answers: nested })).toMatchObject({
    steps: [{ alterations: alterations.map((one) => ({ ...one, path: `s.${one.path}` })) }],
    unused: [],
  });
});

test("half of a swap answers nothing: no column gives its values to another that is still there", () => {
  const [from, to] = [{ d: { a: int32(), b: int64() } }, { d: { a: int64(), b: int32() } }];
  const answers = [{ table: "d", path: "a", name: "b" }];
  expect(found(from, to, { answers }).unused).toEqual(answers);
});

test("tables are asked about where the target gives them other names", () => {
  const [from, to] = [{ d }, { papers: d }];
  expect(found(from, to).steps.map(({ kind }) => kind)).toEqual(["createTable", "dropTable"]);
  expect(found(from, to, { renamesTables: true }).unsure).toEqual([{ table: "d", names: ["papers"] }]);
  const answers = [{ table: "d", name: "papers" }];
  expect(found(from, to, { renamesTables: true, answers }).steps).toEqual([
    { kind: "renameTable", table: "d", name: "papers" },
  ]);
});

test("what no step does is said, all at once", () => {
  expect(found({ d }, { d: { id: utf8(), title: utf8(), source: d.source, n: int32().notNull() } }).impossible).toEqual(
    [
      expect.stringMatching(
        /^d\.id can't be made utf8 from int32: .*; or say how with --retype 'd\.id:utf8 using SQL'$/,
      ),
      "d.n is new and not null, and its values in existing rows are unknown: run the same command with --add-column 'd.n:int32 not null as SQL', with an expression such as 0 or upper(title) in place of SQL",
    ],
  );
});

test("what nobody can tell of values is said by a step, which must be of just that column and type", () => {
  const to = { d: { title: utf8(), source: d.source, id: utf8(), n: int32().notNull(), more: utf8() } };
  const steps = [
    addColumn("d", "n", int32().notNull(), { as: "1" }),
    addColumn("d", "more", utf8(), { as: "title" }),
    retypeColumn("d", "id", utf8(), { using: "cast(id as string)" }),
  ];
  const answersOf = (said: typeof steps) => said.map((step) => ({ table: "d", step }));
  const [n, more, id] = steps as [Step, Step, Step];
  expect(found({ d }, to, { answers: answersOf(steps) })).toEqual({ ...nothing, steps: [id, n, more] });
  const stray = answersOf([
    addColumn("d", "n", int32(), { as: "1" }),
    addColumn("d", "n", int64().notNull(), { as: "1" }),
    addColumn("e", "n", int32().notNull(), { as: "1" }),
    addColumn("d", "title", utf8(), { as: "'x'" }),
    retypeColumn("d", "id", int64(), { using: "1" }),
    retypeColumn("d", "titel", utf8(), { using: "'x'" }),
  ]);
  const wrong = found({ d }, to, { answers: stray });
  expect(wrong.impossible).toHaveLength(2);
  expect(wrong.unused).toEqual(stray);
  // Without values it does not help.
  const bare = answersOf([addColumn("d", "n", int32().notNull())]);
  expect(found({ d }, { d: { ...d, n: int32().notNull() } }, { answers: bare })).toMatchObject({
    impossible: [expect.stringContaining("d.n is new and not null")],
    unused: [],
  });
});

const said = (...steps: readonly ReturnType<typeof addColumn | typeof retypeColumn>[]) => ({
  answers: steps.map((step) => ({ table: "d", step })) as DiffOptions["answers"],
});

test("SQL that names a column by its old name is told of the new one", () => {
  const from = { d: { id: int32(), title: utf8() } };
  const to = { d: { id: int32(), headline: utf8(), words: int32().notNull() } };
  const rename = { table: "d", path: "title", name: "headline" };
  const words = (as: string) => [rename, ...said(addColumn("d", "words", int32().notNull(), { as })).answers!];
  expect(found(from, to, { answers: words("length(title)") })).toMatchObject({
    steps: [],
    impossible: ["the SQL of d.words names title, which is renamed to headline before it"],
  });
  expect(found(from, to, { answers: words("length(headline)") }).steps).toHaveLength(2);
});

test("what is said to be added is not asked about as a new name", () => {
  const from = { d: { id: int32(), n: int64() } };
  const to = { d: { id: int32(), m: int32().notNull() } };
  expect(found(from, to).unsure).toHaveLength(1);
  expect(found(from, to, said(addColumn("d", "m", int32().notNull(), { as: "1" })))).toMatchObject({
    steps: [{ kind: "addColumn" }, { kind: "dropColumn", path: "n" }],
    unsure: [],
    impossible: [],
    unused: [],
  });
});

test("what is recreated comes behind what is added where that is the order that is wanted", () => {
  const from = { d: { id: int32(), n: int32() } };
  const steps = [addColumn("d", "k", int32()), retypeColumn("d", "n", utf8(), { using: "cast(n as string)" })];
  const kinds = (to: Declared) => found(from, to, said(...steps)).steps.map(({ kind }) => kind);
  expect(kinds({ d: { id: int32(), k: int32(), n: utf8() } })).toEqual(["addColumn", "retypeColumn"]);
  expect(kinds({ d: { id: int32(), n: utf8(), k: int32() } })).toEqual(["retypeColumn", "addColumn"]);
});

test("the flags that are named can be typed: odd names in backticks, all of it as one word, and whole columns", () => {
  const odd = struct({ "x y": int32(), "it's": utf8() }).notNull();
  const to = { d: { id: int32(), "my: col": odd, source: struct({ url: int32() }) } };
  const { impossible } = found({ d: { id: int32(), source: struct({ url: int32().notNull(), by: utf8() }) } }, to);
  expect(impossible[0]).toContain(
    "run the same command with --add-column 'd.`my: col`:struct<`x y`: int32, it'\\''s: utf8> not null as SQL'",
  );
  const nested = found({ d: { s: struct({ a: int32() }) } }, { d: { s: struct({ a: utf8() }) } });
  expect(nested.impossible[0]).toMatch(/; or say how with --retype 'd\.s:struct<a: utf8> using SQL'$/);
});

test("indexes are looked at where some are declared", () => {
  const tables = (indexes: Table["indexes"]): Database => new Map([["d", { ...databaseOf({ d }).get("d")!, indexes }]]);
  const [onId, onTitle] = [
    { path: "id", ...btree() },
    { path: "title", ...fts() },
  ];
  const there = tables({ id_idx: onId, words: onTitle });
  expect(diff(there, tables(undefined)).steps).toEqual([]);
  expect(diff(there, tables({})).steps.map(({ kind }) => kind)).toEqual(["dropIndex", "dropIndex"]);
  expect(diff(there, tables({ id_idx: onId, words: { path: "id", ...btree() } })).steps).toEqual([
    { kind: "dropIndex", table: "d", name: "words" },
    { kind: "createIndex", table: "d", path: "id", type: btree(), name: "words" },
  ]);
});

test("a schema is plain data, also where a column is called columns", () => {
  const columns = { columns: int32(), id: int64() };
  expect(defineSchema({ d: columns })).toEqual(defineSchema({ d: table(columns) }));
  expect(
    defineSchema({ d: table(columns, { indexes: [{ on: "id", type: btree() }] }) }).tables[0]![1].indexes,
  ).toHaveLength(1);
});
