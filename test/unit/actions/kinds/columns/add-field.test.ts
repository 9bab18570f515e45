import { expect, test } from "vitest";
import {
  columnsOf,
  fixedSizeBinary,
  int32,
  int64,
  list,
  nullType,
  struct,
  utf8,
} from "../../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../../src/schema/typed/shape.ts";
import type { Action } from "../../../../../src/actions/model/action.ts";
import {
  commitsOf,
  describeAction,
  risksOf,
  rewrites,
  tableAfter,
  invert,
} from "../../../../../src/actions/apply-action.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const table: Table = {
  columns: columnsOf({
    id: int32(),
    s: struct({ a: int32(), d: struct({ p: utf8() }) }),
    strict: struct({ a: int32() }).notNull(),
    bytes: struct({ b: fixedSizeBinary(2) }),
    parts: list(struct({ a: int32() })),
    read: struct({ a: int32() }),
  }),
  indexes: { s_idx: { path: "s.a", kind: "btree", options: {} }, id_idx: { path: "id", kind: "btree", options: {} } },
};
const computed: Table = {
  ...table,
  columns: [...table.columns, { name: "c", type: { kind: "int32" }, nullable: true, computed: "read.a + 1" }],
};
const after = (action: Action) => tableAfter(new Map([["t", computed]]), action);
const add = (path: string, { type, nullable }: ColumnType, as?: string): Action => ({
  kind: "addField",
  table: "t",
  path,
  type,
  nullable,
  as,
});

test.each([
  ["s.x", struct({ a: int32(), d: struct({ p: utf8() }), x: int64() })],
  ["s.d.x", struct({ a: int32(), d: struct({ p: utf8(), x: int64() }) })],
])("%s is added after the others, and the rest stays", (path, type) => {
  const found = after(add(path, int64()));
  expect(found.columns).toEqual(
    computed.columns.map((column) => (column.name === "s" ? columnsOf({ s: type })[0] : column)),
  );
  expect(found.indexes).toEqual(table.indexes);
});

test.each<[string, Action, string]>([
  ["a name that is there", add("s.a", int32()), "t.s would have two columns named a"],
  ["a name that differs in case", add("s.A", int32()), "t.s would have a and A, which differ only in case"],
  ["a name that breaks the table", add("s._rowid", int32()), 'column name "_rowid"'],
  ["a name that is no path", add("`s.x`", int32()), 'column name "s.x" holds a dot'],
  ["no struct of that name", add("q.x", int32()), "t has no column q"],
  [
    "a column that is no struct",
    add("id.x", int32()),
    "id.x can't be added: id is int32, and only a struct has fields",
  ],
  [
    "a struct inside a list",
    add("parts.item.x", int32()),
    'can\'t be added to a struct inside a list; retypeColumn with { using: "parts" } makes parts as a whole',
  ],
  ["a struct that is not null", add("strict.x", int32()), "let it hold nulls with setNullable in a step before"],
  [
    "a struct with a field that is never cast",
    add("bytes.x", int32()),
    'casts none that is fixedSizeBinary(2) (bytes.b); retypeColumn with { using: "bytes" }',
  ],
  [
    "a type that is never cast",
    add("s.x", nullType()),
    "casts none that is null (s.x); s can only be created with its table",
  ],
  ["not null", add("s.x", int32().notNull()), "which can only be added nullable and without values"],
  ["values", add("s.x", int32(), "1"), "which can only be added nullable and without values"],
  [
    "a struct that a computed column reads",
    add("read.x", int32()),
    "read.x can't be added, as the computed column c reads read (read.a + 1)",
  ],
])("refused: %s", (_, action, problem) => {
  expect(() => after(action)).toThrow(problem);
});

test("it gets its name in the commit that writes the struct again, under a guard and without the struct's indexes", () => {
  const action = add("s.x", struct({ q: int32() }));
  expect([...rewrites(action)]).toEqual(["s"]);
  const commits = commitsOf(action, table, () => true);
  expect(commits.map((commit) => describeAction(commit.action))).toEqual([
    "drop index s_idx of t",
    "add t._lance_migrate_guard int8 not null as 1",
    "add t.s._lance_migrate_new struct<q: int32>",
    "rename t.s._lance_migrate_new to x, retype t.s._lance_migrate_new.q to int32",
    "drop t._lance_migrate_guard",
    "create index s_idx on t.s.a: btree",
  ]);
  const [, , adding, casting] = commits.map(({ undo = [] }) => undo.map(describeAction));
  const rest = ["drop t._lance_migrate_guard", "create index s_idx on t.s.a: btree"];
  expect(adding).toEqual(rest);
  expect(casting).toEqual(["drop t.s._lance_migrate_new", ...rest]);
});

test("the rollback drops it, unless it holds values", () => {
  expect(invert(add("s.x", int32()), new Map([["t", table]]))).toEqual({
    actions: [{ kind: "dropColumns", table: "t", paths: ["s.x"] }],
    blockers: [{ kind: "values", table: "t", path: "s.x" }],
  });
});

test("while a field is added deep inside, appends are refused because of the column around it", () => {
  expect(risksOf(add("s.d.x", int64()), table).map(({ text }) => text)).toEqual([
    "appends by others are refused while t.s is written again with its new field",
  ]);
});
