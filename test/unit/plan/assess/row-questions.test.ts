import { expect, test } from "vitest";
import { askAfter, askOf, type Ask, type RowsBlocker } from "../../../../src/plan/assess/row-questions.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import {
  columnsOf,
  date32,
  dictionary,
  float32,
  float64,
  int32,
  int64,
  list,
  struct,
  timestamp,
  utf8,
} from "../../../../src/schema/declare/type-builders.ts";
import type { Database } from "../../../../src/schema/table.ts";

const columns = columnsOf({
  day: date32(),
  size: int64(),
  tags: list(int32()),
  place: struct({ town: utf8() }),
});
const now: Database = new Map([
  ["other", { columns: columnsOf({ size: int64() }) }],
  ["t", { columns }],
]);
const at = (path: string) => ({ table: "t", path });
const [toInt, toTime] = [int32().type, timestamp("ms").type];
const rename = (path: string, to: string): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [{ path, rename: to }],
});
const renameTable: Action = { kind: "renameTable", table: "t", name: "u" };

test.each<[string, RowsBlocker, Omit<Ask, "table"> | undefined]>([
  ["a null", { kind: "null", ...at("day") }, { column: "day", predicate: "`day` IS NULL" }],
  [
    "a field of a struct, which is read whole",
    { kind: "null", ...at("place.town") },
    { column: "place.town", predicate: "`place`.`town` IS NULL AND (`place` IS NULL OR `place` IS NOT NULL)" },
  ],
  ["nulls inside lists", { kind: "null", ...at("tags.item") }, undefined],
  ["vectors", { kind: "vectors", ...at("size"), least: 1 }, { column: "size", predicate: "`size` IS NOT NULL" }],
  ["vectors inside lists", { kind: "vectors", ...at("tags.item"), least: 1 }, undefined],
  ["values", { kind: "values", ...at("size") }, { column: "size", predicate: "`size` IS NOT NULL" }],
  [
    "values inside lists",
    { kind: "values", ...at("tags.item") },
    { column: "tags.item", predicate: "`tags` IS NOT NULL" },
  ],
  ["a column that is not there", { kind: "values", ...at("gone") }, undefined],
  [
    "what the engine refuses to cast",
    { kind: "misfit", ...at("size"), to: toInt },
    { column: "size", predicate: "`size` IS NOT NULL AND arrow_try_cast(`size`, 'Int32') IS NULL" },
  ],
  [
    "a day that is no number",
    { kind: "misfit", ...at("day"), to: toInt },
    { column: "day", predicate: "`day` IS NOT NULL AND arrow_try_cast(`day`, 'Int32') IS NULL" },
  ],
  ["a day of which the engine makes another time", { kind: "misfit", ...at("day"), to: toTime }, undefined],
  ["room in a dictionary", { kind: "misfit", ...at("size"), to: dictionary(int32(), utf8()).type }, undefined],
  [
    "a number as a time",
    { kind: "misfit", ...at("size"), to: toTime },
    {
      column: "size",
      predicate: "`size` IS NOT NULL AND arrow_try_cast(`size`, 'Timestamp(Millisecond, None)') IS NULL",
    },
  ],
  ["items that do not fit", { kind: "misfit", ...at("tags.item"), to: toInt }, undefined],
  [
    "what does not come back from a cast",
    { kind: "cast", ...at("size"), from: int64().type, to: toInt },
    {
      column: "size",
      predicate:
        "`size` IS NOT NULL AND (arrow_try_cast(arrow_try_cast(`size`, 'Int32'), 'Int64') IS NULL OR arrow_try_cast(arrow_try_cast(`size`, 'Int32'), 'Int64') <> `size`)",
    },
  ],
  ["rows", { kind: "rows", table: "t", own: 0 }, { predicate: undefined }],
])("it is asked about %s", (_, blocker, ask) => {
  expect(askOf(blocker, [], now)).toEqual(ask && { table: "t", ...ask });
});

test("items that a list's cast may round are compared, unless the cast may lose something anyway", () => {
  const lists: Database = new Map([["t", { columns: columnsOf({ some: list(int32()), more: list(float64()) }) }]]);
  const misfit = (path: string, to: typeof columns) =>
    askOf({ kind: "misfit", ...at(path), to: to[0]!.type }, [], lists);
  expect(misfit("some", columnsOf({ a: list(utf8()) }))?.predicate).toBe(
    "`some` IS NOT NULL AND (arrow_try_cast(`some`, 'List(Utf8)') IS NULL OR arrow_try_cast(arrow_try_cast(`some`, 'List(Utf8)'), 'List(Int32)') <> `some`)",
  );
  expect(misfit("more", columnsOf({ a: list(float32()) }))).toBeUndefined();
});

test("it is asked under the names that tables and columns have now", () => {
  const before = [rename("size", "amount"), renameTable];
  expect(askOf({ kind: "values", table: "u", path: "amount" }, before, now)).toEqual({
    table: "t",
    column: "size",
    predicate: "`size` IS NOT NULL",
  });
  expect(askOf({ kind: "rows", table: "u", own: 0 }, before, now)).toEqual({ table: "t", predicate: undefined });
  expect(askOf({ kind: "rows", table: "t", own: 0 }, before, now)).toBeUndefined();
  expect(askOf({ kind: "values", table: "t", path: "size" }, before, now)).toBeUndefined();
});

test("of a table that is restored before, the version is asked", () => {
  const restore = (table: string): Action => ({
    kind: "restoreTable",
    table,
    version: 3,
    after: 5,
    as: { columns: columnsOf({ old: utf8() }) },
    isSilent: true,
  });
  const putBack = (columns: Readonly<Record<string, string>> | undefined): Action => ({
    kind: "putBackRows",
    table: "t",
    version: 3,
    after: 5,
    columns,
  });
  const filled = { kind: "values", ...at("old") } as const;
  const asked = { table: "t", column: "old", predicate: "`old` IS NOT NULL", version: 3 };
  expect(askAfter(filled, [restore("t")], now)).toEqual({ ...asked, reinserts: false });
  expect(askAfter(filled, [restore("t"), putBack({ old: "old" })], now)).toEqual({ ...asked, reinserts: true });
  expect(askAfter(filled, [restore("t"), putBack(undefined)], now)).toEqual({ ...asked, reinserts: false });
  // Its name now, where it is renamed on the way.
  expect(askAfter({ ...filled, table: "u" }, [restore("t"), renameTable], now)).toEqual({ ...asked, reinserts: false });
  expect(askAfter({ ...filled, table: "u" }, [renameTable, restore("u")], now)).toEqual({ ...asked, reinserts: false });
  // Nobody can ask about what that version does not have, nor of a table that is not there now.
  expect(askAfter({ kind: "values", ...at("size") }, [restore("t")], now)).toBeUndefined();
  expect(askAfter({ ...filled, table: "new" }, [restore("new")], now)).toBeUndefined();
  // Another table that is restored is none of it.
  expect(askAfter({ kind: "values", ...at("size") }, [restore("other")], now)).toEqual({
    table: "t",
    column: "size",
    predicate: "`size` IS NOT NULL",
  });
});
