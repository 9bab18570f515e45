import { expect, test } from "vitest";
import { columnsOf, int8, nullType, struct, utf8 } from "../../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../../src/schema/typed/shape.ts";
import type { Action, AddColumnsAction } from "../../../../../src/actions/model/action.ts";
import { commitsOf, describeAction, risksOf, tableAfter } from "../../../../../src/actions/apply-action.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const table: Table = { columns: columnsOf({ id: int8(), Name: utf8() }), indexes: { i: null } };
const after = (action: Action) => tableAfter(new Map([["t", table]]), action);
const add = (name: string, type: ColumnType, as?: string): AddColumnsAction => ({
  kind: "addColumns",
  table: "t",
  columns: [{ name, type: type.type, nullable: type.nullable, as }],
});

test("columns are added after the others, and the rest stays", () => {
  const columns = columnsOf({ id: int8(), Name: utf8(), n: int8().notNull() });
  expect(after(add("n", int8().notNull(), "1"))).toEqual({ columns, indexes: { i: null } });
});

test.each<[string, Action, string]>([
  ["a name that is there", add("id", int8()), "t would have two columns named id"],
  ["a name that differs in case", add("name", int8()), "t would have Name and name, which differ only in case"],
  ["a name that breaks the table", add("_rowid", int8()), 'column name "_rowid"'],
  ["no values", add("n", int8().notNull()), "t: column n is not null and has no values for the rows that are there"],
  [
    "a struct with a field of type null among others",
    add("s", struct({ a: int8(), n: nullType() })),
    "column s can't be added, as a field in it is of type null",
  ],
  ["values of type null", add("n", nullType(), "1"), "t: column n is of type null and holds no values"],
])("refused: %s", (_, action, problem) => {
  expect(() => after(action)).toThrow(problem);
});

test("one that is not null takes two commits, and the second can be rolled back", () => {
  expect(commitsOf(add("n", int8(), "id"), table, () => true)).toHaveLength(1);
  const [added, strict, ...others] = commitsOf(add("n", int8().notNull(), "id"), table, () => true);
  expect(others).toEqual([]);
  expect(added).toEqual({ action: add("n", int8(), "id") });
  expect(strict).toEqual({
    action: { kind: "alterColumns", table: "t", alterations: [{ path: "n", nullable: false }] },
    undo: [{ kind: "dropColumns", table: "t", paths: ["n"] }],
  });
});

test("one whose values are a literal takes one, also beside others", () => {
  const literal = add("n", int8().notNull(), "1");
  expect(commitsOf(literal, table, () => true)).toEqual([{ action: literal }]);
  const [one] = add("m", int8().notNull(), "id").columns;
  const [other] = literal.columns;
  const commits = commitsOf({ ...literal, columns: [one!, other!] }, table, () => true);
  expect(commits.map(({ action }) => action)).toEqual([
    { ...literal, columns: [{ ...one, nullable: true }, other] },
    { kind: "alterColumns", table: "t", alterations: [{ path: "m", nullable: false }] },
  ]);
});

test("in words, with what may stop it", () => {
  expect(describeAction(add("n", int8().notNull(), "id + 1"))).toBe("add t.n int8 not null as id + 1");
  expect(risksOf(add("n", int8(), "id + 1"), table)).toMatchObject([{ kind: "failure" }]);
  expect(risksOf(add("n", int8()), table)).toEqual([]);
});

test.each([
  ["a quote in a field's name", struct({ 'a"b': int8() }), /can't name its field a"b/],
  ["a backslash, further in", struct({ s: struct({ "a\\b": int8() }) }), /can't name its field a\\b/],
  ["a field of type null", struct({ n: nullType() }), /a field in it is of type null/],
])("a column with %s is refused, with values and without", (_, type, problem) => {
  for (const as of [undefined, "null"]) expect(() => after(add("n", type, as))).toThrow(problem);
});
