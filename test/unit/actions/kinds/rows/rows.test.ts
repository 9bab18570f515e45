/** The actions that change rows and no schema. */
import { expect, test } from "vitest";
import type { Action } from "../../../../../src/actions/model/action.ts";
import { changesRows, describeAction, risksOf, tableAfter } from "../../../../../src/actions/apply-action.ts";
import {
  columnsOf,
  fixedSizeList,
  int8,
  list,
  nullType,
  struct,
  utf8,
} from "../../../../../src/schema/declare/type-builders.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const table: Table = { columns: columnsOf({ id: int8(), name: utf8(), s: struct({ x: int8() }) }) };
const after = (action: Action) => tableAfter(new Map([["t", table]]), action);
const update = (set: Readonly<Record<string, string>>, where?: string) =>
  ({ kind: "updateRows", table: "t", set, where }) as const;
const insert: Action = { kind: "insertRows", table: "t", rows: [{ id: 1 }, { id: 2 }], key: "id" };
const remove: Action = { kind: "deleteRows", table: "t", where: "id = 1" };

test.each<[Action]>([[update({ name: "'a'" })], [insert], [remove]])("%j leaves the table as it is", (action) => {
  expect(after(action)).toEqual(table);
  expect(changesRows(action)).toBe(true);
});

test.each<[string, Action, string]>([
  ["a missing column", update({ nope: "1" }), "t has no column nope"],
  ["a part of a column", update({ "s.x": "1" }), "t: the engine sets whole columns, not s.x; set s as a whole"],
  ["a value made from itself", update({ id: "id + 1" }), "t: id = id + 1 reads id, which the same update sets"],
  ["one that is made from another that is set", update({ id: "1", name: "cast(`ID` as text)" }), "reads ID"],
  ["one that is made from itself, in backticks", update({ "`id`": "id + 1" }), "reads id, which the same update sets"],
  ["a column that is set twice", update({ id: "1", "`id`": "2" }), "t: `id` is set twice in one update"],
  ["rows that do not fit", { ...insert, rows: [{ id: 1000 }] }, "rows of t: row 1: id must be a whole number"],
  ["another table", { ...remove, table: "u" }, "no migration before this creates a table u"],
])("refused: %s", (_, action, problem) => {
  expect(() => after(action)).toThrow(problem);
});

test("the engine can't find the rows to update where there are vectors of structs", () => {
  const columns = columnsOf({ id: int8(), l: list(fixedSizeList(struct({ x: int8(), y: int8() }), 2)) });
  const updated = (action: Action) => () => tableAfter(new Map([["t", { columns }]]), action);
  expect(updated(update({ id: "1" }))).not.toThrow();
  for (const where of ["ID is null", "false"])
    expect(updated(update({ id: "1" }, where))).toThrow(
      "t: the engine can't update some rows of a table with vectors of structs (l); leave out `where`",
    );
});

test("the name of a column in text is no column", () => {
  expect(after(update({ id: "length('id')" }))).toEqual(table);
});

test("in words, with what is lost", () => {
  expect(describeAction(update({ id: "1", name: "'a'" }, "id is null"))).toBe(
    "update t: id = 1, name = 'a' where id is null",
  );
  expect(describeAction(insert)).toBe("insert 2 rows into t where their id is not there");
  expect(describeAction(remove)).toBe("delete from t where id = 1");
  expect(risksOf(update({ id: "1" }), table)).toEqual([{ kind: "loss", text: "values of t.id are overwritten" }]);
  expect(risksOf(remove, table)).toEqual([{ kind: "loss", text: "rows of t are deleted where id = 1" }]);
});

test.each<[where: string, set: Record<string, string>, lost: readonly string[]]>([
  ["id is null", { id: "1" }, []],
  ["name = 'a' and (id is null)", { id: "1" }, []],
  ["name = 'a'", { id: "1" }, ["id"]],
  ["id is null", { id: "1", name: "'a'" }, ["name"]],
  ["id is null or name = 'a'", { id: "1" }, ["id"]],
  ["`ID` is null", { id: "1" }, ["id"]],
])("an update where %s that sets %j overwrites values of %j", (where, set, lost) => {
  const losses = risksOf(update(set, where), table).filter(({ kind }) => kind === "loss");
  expect(losses.map(({ text }) => text)).toEqual(lost.map((name) => `values of t.${name} are overwritten`));
});

test("no rows are inserted beside a field of type null", () => {
  const columns = columnsOf({ id: int8(), l: list(struct({ n: nullType() })) });
  expect(() => tableAfter(new Map([["t", { columns }]]), insert)).toThrow(
    "t: the engine can't insert rows beside l, in which a field is of type null",
  );
});
