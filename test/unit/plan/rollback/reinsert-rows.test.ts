import { expect, test } from "vitest";
import { leftBehind, putBackColumns } from "../../../../src/plan/rollback/reinsert-rows.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import {
  columnsOf,
  dictionary,
  float32,
  float64,
  int32,
  int64,
  list,
  struct,
  utf8,
} from "../../../../src/schema/declare/type-builders.ts";
import type { Column } from "../../../../src/schema/data-type.ts";

const alter = (path: string, to: object): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [{ path, ...to }],
});
const drop = (path: string): Action => ({ kind: "dropColumns", table: "t", paths: [path] });
const putBack = (before: readonly Column[], after: readonly Column[], ...actions: readonly Action[]) =>
  putBackColumns({ columns: before }, { columns: after }, actions);

const one = columnsOf({ a: int32() });

test.each<[string, ReturnType<typeof putBack>, ReturnType<typeof putBack>]>([
  ["as it is", putBack(one, one), { a: "`a`" }],
  ["renamed", putBack(one, columnsOf({ "b`c": int32() }), alter("a", { rename: "b`c" })), { a: "`b``c`" }],
  ["dropped", putBack(one, [], drop("a")), { a: "arrow_cast(NULL, 'Int32')" }],
  ["dropped, and not null before", putBack(columnsOf({ a: int32().notNull() }), [], drop("a")), undefined],
  ["null where it was not", putBack(columnsOf({ a: int32().notNull() }), one), undefined],
  [
    "cast to what always fits back",
    putBack(columnsOf({ a: float32() }), columnsOf({ a: float64() }), alter("a", { type: float64().type })),
    { a: expect.stringMatching(/^nvl2\(.*, arrow_cast\(`a`, 'Float32'\)\)$/) as string },
  ],
  [
    "cast to what does not always fit back, and has no null to stand for it",
    putBack(
      columnsOf({ a: float32().notNull() }),
      columnsOf({ a: float64().notNull() }),
      alter("a", { type: float64().type }),
    ),
    undefined,
  ],
  [
    "cast to what may not fit back",
    putBack(one, columnsOf({ a: int64() }), alter("a", { type: int64().type })),
    undefined,
  ],
  [
    "recreated by an expression",
    putBack(one, one, { kind: "convertColumn", table: "t", path: "a", type: int32().type, using: "1" }),
    undefined,
  ],
  [
    "with another name inside",
    putBack(
      columnsOf({ s: struct({ x: int32() }) }),
      columnsOf({ s: struct({ y: int32() }) }),
      alter("s.x", { rename: "y" }),
    ),
    undefined,
  ],
  ["beside one that is renamed inside", putBack(one, one, alter("s.x", { rename: "y" })), { a: "`a`" }],
  [
    "of a dictionary",
    putBack(columnsOf({ a: dictionary(int32(), utf8()) }), columnsOf({ a: dictionary(int32(), utf8()) })),
    undefined,
  ],
  [
    "of a dictionary in a list",
    putBack(columnsOf({ a: list(dictionary(int32(), utf8())) }), columnsOf({ a: list(dictionary(int32(), utf8())) })),
    undefined,
  ],
  ["computed", putBack([...one, { ...columnsOf({ c: int32() })[0]!, computed: "a + 1" } as never], one), { a: "`a`" }],
])("rows are reinserted with a column that is %s", (_, found, expected) => {
  expect(found).toEqual(expected);
});

test("rows lose what they have in columns that were added, and digits in those that were cast", () => {
  const left = (before: readonly Column[], after: readonly Column[], ...actions: readonly Action[]) =>
    leftBehind({ columns: before }, { columns: after }, actions);
  expect(left(one, one)).toEqual([]);
  expect(left(one, columnsOf({ a: int32(), added: utf8() }))).toEqual(["added"]);
  expect(left(one, columnsOf({ b: int32() }), alter("a", { rename: "b" }))).toEqual([]);
  expect(left(one, columnsOf({ a: int64() }), alter("a", { type: int64().type }))).toEqual([]);
  const cast = alter("a", { type: float64().type });
  expect(left(columnsOf({ a: float32() }), columnsOf({ a: float64() }), cast)).toEqual(["a"]);
  const computed = { ...columnsOf({ c: int32() })[0]!, computed: "a + 1" } as never;
  expect(left(one, [...one, computed])).toEqual([]);
});
