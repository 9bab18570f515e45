import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { applyAlterations, describeAlteration } from "../../../../src/actions/rewrite/apply-alterations.ts";
import type { Alteration } from "../../../../src/actions/model/alteration.ts";
import {
  columnsOf,
  fixedSizeList,
  float32,
  float64,
  int8,
  int32,
  int64,
  largeList,
  list,
  nullType,
  struct,
  utf8,
  vector,
} from "../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../src/schema/typed/shape.ts";
import { type Column, childColumns } from "../../../../src/schema/data-type.ts";
import { formatPath, type Path } from "../../../../src/schema/path.ts";
import { anyColumns } from "../../../support/drawn-tables.ts";
import { renames } from "../../../support/renames.ts";

type Columns = Readonly<Record<string, ColumnType>>;

/** The columns after one call on a table t. */
function altered(columns: Columns, ...alterations: readonly Alteration[]): readonly Column[] {
  return applyAlterations("t", { columns: columnsOf(columns) }, alterations).columns;
}

const columns: Columns = {
  a: int8(),
  b: int32().notNull(),
  s: struct({ x: int8(), y: int32(), deep: struct({ z: utf8() }) }),
  l: list(struct({ q: int8() })),
  ll: largeList(int32()),
  v: vector(2),
  fs: fixedSizeList(struct({ x: int8() }), 2),
  n: nullType(),
};

test.each<[string, Columns, readonly Alteration[], Columns]>([
  ["a column is renamed in its place", { a: int8(), b: utf8() }, renames("a → c"), { c: int8(), b: utf8() }],
  ["a struct is renamed with its fields", { s: struct({ x: int8() }) }, renames("s → r"), { r: struct({ x: int8() }) }],
  [
    "a nested field is renamed in its place",
    { s: struct({ x: int8(), y: int8() }) },
    renames("s.x → z"),
    { s: struct({ z: int8(), y: int8() }) },
  ],
  ["two names are swapped", { a: int8(), b: utf8() }, renames("a → b, b → a"), { b: int8(), a: utf8() }],
  [
    "two nested names are swapped",
    { s: struct({ x: int8(), y: utf8() }) },
    renames("s.x → y, s.y → x"),
    { s: struct({ y: int8(), x: utf8() }) },
  ],
  [
    "three names go round",
    { a: int8(), b: int32(), c: int64() },
    renames("a → b, b → c, c → a"),
    { b: int8(), c: int32(), a: int64() },
  ],
  ["a name that becomes free is taken", { a: int8(), c: utf8() }, renames("a → b, c → a"), { b: int8(), a: utf8() }],
  [
    "a parent and its child are renamed by the child's old path",
    { s: struct({ x: int8() }) },
    renames("s → r, s.x → y"),
    { r: struct({ y: int8() }) },
  ],
  [
    "the order of the entries does not matter",
    { s: struct({ x: int8() }) },
    renames("s.x → y, s → r"),
    { r: struct({ y: int8() }) },
  ],
  [
    "a parent takes the name of its child's sibling",
    { s: struct({ x: int8() }), r: int8() },
    renames("s → r, r → s, s.x → y"),
    { r: struct({ y: int8() }), s: int8() },
  ],
  ["a type is changed", { a: int8() }, [{ path: "a", type: int64().type }], { a: int64() }],
  ["a type keeps its not null", { a: int8().notNull() }, [{ path: "a", type: int64().type }], { a: int64().notNull() }],
  ["a column becomes nullable", { a: int8().notNull() }, [{ path: "a", nullable: true }], { a: int8() }],
  ["a column becomes not null", { a: int8() }, [{ path: "a", nullable: false }], { a: int8().notNull() }],
  [
    "one entry changes name, type and nullability",
    { a: int8().notNull() },
    [{ path: "a", rename: "b", type: int64().type, nullable: true }],
    { b: int64() },
  ],
  [
    "entries of different columns change different things",
    { a: int8(), b: utf8().notNull(), s: struct({ x: float32() }) },
    [
      { path: "a", rename: "c" },
      { path: "b", nullable: true },
      { path: "s.x", type: float64().type },
    ],
    { c: int8(), b: utf8(), s: struct({ x: float64() }) },
  ],
  ["the items of a list are cast", { l: list(int8()) }, [{ path: "l.item", type: int64().type }], { l: list(int64()) }],
  [
    "a field inside a list is renamed",
    { l: list(struct({ q: int8() })) },
    renames("l.item.q → r"),
    { l: list(struct({ r: int8() })) },
  ],
  [
    "a field inside a fixed size list is reached through its item",
    { fs: fixedSizeList(struct({ x: int8() }), 2) },
    renames("fs.item.x → y"),
    { fs: fixedSizeList(struct({ y: int8() }), 2) },
  ],
  [
    "a name that differs from its own old name in case alone is another name",
    { a: int8() },
    renames("a → A"),
    { A: int8() },
  ],
  ["a column is reached by its quoted name", { "with space": int8() }, renames("`with space` → a"), { a: int8() }],
  [
    "a nested name with a dot is reached by its quotes",
    { s: struct({ "a.b": int8() }) },
    renames("s.`a.b` → c"),
    { s: struct({ c: int8() }) },
  ],
  [
    "a nested name with a backtick is reached by its quotes",
    { s: struct({ "a`b": int8() }) },
    renames("s.`a``b` → c"),
    { s: struct({ c: int8() }) },
  ],
])("%s", (_, before, alterations, after) => {
  expect(altered(before, ...alterations)).toEqual(columnsOf(after));
});

test("the item of a list gets another name", () => {
  const [l] = altered({ l: list(int8()) }, { path: "l.item", rename: "element" });
  expect(l?.type).toEqual({ kind: "list", item: { name: "element", type: { kind: "int8" }, nullable: true } });
});

test("the table before stays as it was", () => {
  const before = { columns: columnsOf(columns) };
  const copy = structuredClone(before);
  applyAlterations("t", before, renames("s.x → w"));
  expect(before).toEqual(copy);
});

const conflict = (problem: string) => ({ code: "ERR_ALTERATION_CONFLICT", details: { table: "t", problem } });
const noEffect = (problem: string) => ({ code: "ERR_NO_EFFECT", details: { problem } });
const name = (name: string) => ({ code: "ERR_COLUMN_NAME", details: expect.objectContaining({ name }) });
const duplicate = (table: string, name: string, other: string) => ({
  code: "ERR_COLUMN_DUPLICATE",
  details: { table, name, other },
});
const all = Object.keys(columns);
const missing = (table: string, path: string, has: readonly string[]) => ({
  code: "ERR_COLUMN_MISSING",
  details: expect.objectContaining({ table, path, has }),
});

test.each<[string, readonly Alteration[], object]>([
  // The engine takes these renames, and the table can't be read afterwards (docs/internals/engine.md).
  ["an empty name", renames("a → "), name("")],
  ["a nested empty name", renames("s.x → "), name("")],
  ["a name with a dot", renames("a → a.b"), name("a.b")],
  ["a nested name with a dot", renames("s.x → s.z"), name("s.z")],
  ["a name with a backtick", renames("a → `b`"), name("`b`")],
  ["a name with a control character", renames("a → b\n"), name("b\n")],
  ["a name of the engine", renames("a → _rowid"), name("_rowid")],
  ["a nested name of the engine", renames("l.item.q → _rowaddr"), name("_rowaddr")],
  ["the name of a sibling", renames("a → b"), duplicate("t", "b", "b")],
  ["the name of a nested sibling", renames("s.x → y"), duplicate("t.s", "y", "y")],
  ["a sibling's name in another case", renames("a → B"), duplicate("t", "B", "b")],
  ["a nested sibling's name in another case", renames("s.x → Y"), duplicate("t.s", "Y", "y")],
  ["one new name for two columns", renames("a → c, b → c"), duplicate("t", "c", "c")],
  ["the name that it has", renames("a → a"), noEffect("t.a has that name already")],
  ["the nested name that it has", renames("s.x → x"), noEffect("t.s.x has that name already")],
  ["the type that it has", [{ path: "a", type: int8().type }], noEffect("t.a is int8 already")],
  ["nullable while it is", [{ path: "a", nullable: true }], noEffect("t.a is nullable already")],
  ["not null while it is", [{ path: "b", nullable: false }], noEffect("t.b is not null already")],
  ["a chain of renames: the second path is none of the table before", renames("a → c, c → d"), missing("t", "c", all)],
  ["a child by its parent's new path", renames("s → r, r.x → w"), missing("t.r", "x", [])],
  ["a path in another case", renames("A → c"), missing("t", "A", all)],
  ["a missing nested column", renames("s.nope → c"), missing("t.s", "nope", ["x", "y", "deep"])],
  ["a column below a plain one", renames("a.x → c"), missing("t.a", "x", [])],
  ["the items of a vector", [{ path: "v.item", type: float64().type }], missing("t.v", "item", [])],
  ["the item of a fixed size list of structs", renames("fs.item → c"), missing("t.fs", "item", [])],
  ["a field of a list without its item", renames("l.q → c"), missing("t.l", "q", ["item"])],
  ["a path with an empty part", renames("s. → c"), { code: "ERR_PATH_INVALID" }],
  [
    "one path twice",
    [
      { path: "a", rename: "c" },
      { path: "a", nullable: false },
    ],
    conflict("column a is altered twice in one call; put its changes into one entry"),
  ],
  [
    "one path twice, once in quotes",
    [
      { path: "s.x", rename: "c" },
      { path: "`s`.`x`", nullable: false },
    ],
    conflict("column s.x is altered twice in one call; put its changes into one entry"),
  ],
  [
    "a retype and not null in one entry",
    [{ path: "a", type: int64().type, nullable: false }],
    conflict('the engine refuses a retype (a) and "not null" (a) in one call; make "not null" a step after it'),
  ],
  [
    "a retype and not null in two entries",
    [
      { path: "b", type: int64().type },
      { path: "a", nullable: false },
    ],
    conflict('the engine refuses a retype (b) and "not null" (a) in one call; make "not null" a step after it'),
  ],
  [
    "a retype of a list and a change inside it",
    [
      { path: "ll", type: list(int64()).type },
      { path: "ll.item", rename: "element" },
    ],
    conflict("column ll is retyped in the same call as a column inside it; make them two steps"),
  ],
  ["a cast out of its family", [{ path: "a", type: utf8().type }], { code: "ERR_CAST_REFUSED" }],
  ["a struct as a whole", [{ path: "s", type: struct({ x: int64() }).type }], { code: "ERR_CAST_REFUSED" }],
  ["not null for a column of nulls", [{ path: "n", nullable: false }], { code: "ERR_ALTERATION_CONFLICT" }],
  ["not null for the items of a list", [{ path: "l.item", nullable: false }], { code: "ERR_ALTERATION_CONFLICT" }],
  ["not null for a field inside a list", [{ path: "l.item.q", nullable: false }], { code: "ERR_ALTERATION_CONFLICT" }],
  [
    "not null for the items of a large list",
    [{ path: "ll.item", nullable: false }],
    { code: "ERR_ALTERATION_CONFLICT" },
  ],
  ["not null inside a fixed size list", [{ path: "fs.item.x", nullable: false }], { code: "ERR_ALTERATION_CONFLICT" }],
])("refused: %s", (_, alterations, error) => {
  expect(() => altered(columns, ...alterations)).toThrow(expect.objectContaining(error));
});

test("one bad entry refuses the whole call", () => {
  expect(() => altered(columns, { path: "a", rename: "c" }, { path: "nope", rename: "d" })).toThrow(
    expect.objectContaining({ code: "ERR_COLUMN_MISSING" }),
  );
});

test("a refused cast says from what to what, and the way out", () => {
  expect(() => altered(columns, { path: "s.x", type: utf8().type })).toThrow(
    "the engine can't cast t.s.x from int8 to utf8; the engine casts only inside one family of types; recreate the column with retypeColumn's using",
  );
});

test.each<[Alteration, string]>([
  [{ path: "s.x", rename: "y" }, "rename t.s.x to y"],
  [{ path: "a", type: vector(2).type }, "retype t.a to fixedSizeList<float32, 2>"],
  [{ path: "a", nullable: true }, "make t.a nullable"],
  [{ path: "a", nullable: false }, "make t.a not null"],
  [
    { path: "a", rename: "b", type: int64().type, nullable: true },
    "rename t.a to b, retype t.a to int64, make t.a nullable",
  ],
])("the alteration %j is described in words", (alteration, words) => {
  expect(describeAlteration("t", alteration)).toBe(words);
});

// Random renames: every column at any depth that may have another name gets a new one, or not.
interface Renamed {
  readonly path: Path;
  readonly back: Path;
}

function drawnRenames(columns: readonly Column[], path: Path, back: Path, next: () => boolean): Renamed[] {
  const inFixedSizeList = columns.length === 1 && columns[0]!.name === "item" && path.length > 0;
  return columns.flatMap((column, index) => {
    const renamed = !inFixedSizeList && next();
    const here = [...path, column.name];
    const there = [...back, renamed ? `new_${index}` : column.name];
    return [
      ...(renamed ? [{ path: here, back: there }] : []),
      ...drawnRenames(childColumns(column.type), here, there, next),
    ];
  });
}

/** A table without its names. */
function shape(columns: readonly Column[]): unknown {
  return columns.map(({ type, nullable }) => ({ kind: type.kind, nullable, inside: shape(childColumns(type)) }));
}

test("renames keep the order, types and nullability of columns, and renaming back gives the same table", () => {
  fc.assert(
    fc.property(anyColumns, fc.infiniteStream(fc.boolean()), (columns, choices) => {
      const chosen = drawnRenames(columns, [], [], () => choices.next().value as boolean);
      const there = chosen.map(({ path, back }) => ({ path: formatPath(path), rename: back.at(-1)! }));
      const back = chosen.map(({ path, back }) => ({ path: formatPath(back), rename: path.at(-1)! }));
      const renamed = applyAlterations("t", { columns }, there);
      expect(shape(renamed.columns)).toEqual(shape(columns));
      expect(applyAlterations("t", renamed, back).columns).toEqual(columns);
    }),
  );
});
