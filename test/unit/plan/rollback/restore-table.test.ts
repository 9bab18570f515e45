import {
  addColumn,
  alterColumns,
  createTable,
  dropColumn,
  dropTable,
  execute,
  float32,
  float64,
  insertRows,
  int32,
  int64,
  renameColumn,
  renameTable,
  retypeColumn,
  setNullable,
  struct,
  utf8,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import type { TableVersions } from "../../../../src/ledger/state/record.ts";
import { lineagesOf } from "../../../../src/actions/follow.ts";
import { putBackColumns } from "../../../../src/plan/rollback/reinsert-rows.ts";
import { rollbackOf } from "../../../../src/plan/rollback/rollback.ts";
import { classify } from "../../../../src/plan/rollback/rollback-class.ts";
import { columnsOf, dictionary, int8 } from "../../../../src/schema/declare/type-builders.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { tablesAfter } from "../../../../src/actions/apply-action.ts";
import { change, type Table } from "../../../../src/schema/table.ts";
import { compileStep } from "../../../../src/steps/registry.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";
import type { Capabilities } from "../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../simulate/history.ts";

const able: Capabilities = {
  ...abilitiesOf("namespace"),
  actions: { ...abilitiesOf("namespace").actions, restoreTable: true },
};
const table: Table = {
  columns: columnsOf({ id: int32().notNull(), f: float64(), b: utf8(), s: struct({ x: int32() }) }),
};
const before = new Map([["t", table]]);
const versions: TableVersions = { t: [5, 9] };

const wordsOf = (steps: readonly Step[], tables: TableVersions = versions, putsBack = true) => {
  const { actions, blockers } = rollbackOf(aMigration(2, steps), Infinity, before, able, {
    able: true,
    tables,
    reinserts: putsBack,
  });
  return [
    actions.map(({ action }) => `${action.kind} ${action.table}`),
    blockers.map(({ at, blocker }) => `${at} ${blocker.kind} ${"version" in blocker ? blocker.version : ""}`),
  ];
};

test("a table of which something is lost goes back as a whole", () => {
  const steps = [
    renameColumn("t", "b", "c"),
    dropColumn("t", "f"),
    addColumn("t", "n", utf8()),
    createTable("u", { a: int32() }),
  ];
  expect(wordsOf(steps)).toEqual([
    ["dropTable u", "restoreTable t", "putBackRows t"],
    ["0 rows ", "1 since 9"],
  ]);
  expect(wordsOf(steps, versions, false)).toMatchObject([["dropTable u", "restoreTable t"], {}]);
});

test("under the name that it had", () => {
  const steps = [dropColumn("t", "f"), renameTable("t", "u"), renameColumn("u", "b", "c"), renameTable("u", "v")];
  expect(wordsOf(steps)).toEqual([
    ["renameTable v", "renameTable u", "restoreTable t", "putBackRows t"],
    ["2 since 9"],
  ]);
  expect(wordsOf([renameTable("t", "u"), dropColumn("u", "f")])).toEqual([
    ["renameTable u", "restoreTable t", "putBackRows t"],
    ["1 since 9"],
  ]);
});

test("what a migration made itself goes with all that it lost of it", () => {
  const rows = [{ a: 1 }, { a: 2 }];
  const made = [
    createTable("u", { a: int32(), b: utf8() }, { rows: [{ a: 0, b: "" }] }),
    insertRows("u", rows, { key: "a" }),
    dropColumn("u", "b"),
  ];
  const { blockers } = rollbackOf(aMigration(2, made), 3, before, able, { able: true, tables: {}, reinserts: true });
  expect(blockers).toMatchObject([{ blocker: { kind: "rows", own: 3 } }]);
  expect(wordsOf(made, {})).toEqual([["dropTable u"], ["0 rows null"]]);
  expect(wordsOf(made, { u: [null, 3] })).toEqual([["dropTable u"], ["0 rows 3"]]);
  expect(wordsOf(made.slice(0, 1), { u: [null, 1] })).toEqual([["dropTable u"], ["0 rows 1"]]);
  expect(wordsOf(made, { u: [null, 4, true] })).toEqual([["dropTable u"], ["0 rows null"]]);
  // A table of that name was there before.
  expect(wordsOf(made, { u: [2, 5] })).toEqual([["dropTable u"], ["0 rows null"]]);
  expect(wordsOf([...made, renameTable("u", "w")], {})).toEqual([["renameTable w", "dropTable u"], ["1 rows null"]]);
  expect(wordsOf([...made, dropTable("u")], {})).toEqual([[], []]);
  expect(wordsOf([...made, dropTable("u"), createTable("u", { z: int32() })], {})).toEqual([
    ["dropTable u"],
    ["0 rows "],
  ]);
});

test("what others wrote came after the migration's end, or after its beginning where they wrote meanwhile and it did not", () => {
  const steps = [execute("t", { update: { b: "'x'" } })];
  expect(wordsOf(steps)).toEqual([["restoreTable t", "putBackRows t"], ["0 since 9"]]);
  expect(wordsOf(steps, { t: [5, 9, true] })).toEqual([["restoreTable t"], ["0 since undefined"]]);
  const others = [dropColumn("t", "f")];
  expect(wordsOf(others, { t: [5, 9, true] })).toEqual([["restoreTable t", "putBackRows t"], ["0 since 5"]]);
});

test("what no version brings back, or no version is known of, is refused", () => {
  expect(() => wordsOf([dropTable("t")])).toThrow("t is dropped with its rows and its versions");
  expect(() => wordsOf([dropColumn("t", "f"), dropTable("t"), createTable("t", { a: int32() })])).toThrow(
    "is dropped with its rows",
  );
  expect(() => wordsOf([dropColumn("t", "f")], {})).toThrow("the ledger does not know which version t had before");
});

test("restoring can be seen where columns differ by it, and not where they are the same", () => {
  const silent = (...steps: readonly Step[]) =>
    rollbackOf(aMigration(2, steps), Infinity, before, able, {
      able: true,
      tables: versions,
      reinserts: false,
    }).actions.map(({ action }) => action.kind === "restoreTable" && action.isSilent);
  expect(silent(dropColumn("t", "b"))).toEqual([false]);
  expect(silent(execute("t", { delete: "id = 1" }))).toEqual([true]);
  expect(silent(dropColumn("t", "s"), addColumn("t", "s", struct({ x: int32() })))).toEqual([true]);
});

test.each<[string, readonly Step[], object | undefined]>([
  ["a dropped column is left out, which makes it null", [dropColumn("t", "f")], { id: "`id`", b: "`b`", s: "`s`" }],
  [
    "names and types go back",
    [renameColumn("t", "b", "c"), retypeColumn("t", "f", float32()), renameColumn("t", "c", "d")],
    { id: "`id`", f: "arrow_cast(`f`, 'Float64')", b: "`d`", s: "`s`" },
  ],
  [
    "a swap",
    [
      alterColumns("t", [
        { path: "f", rename: "b" },
        { path: "b", rename: "f" },
      ]),
    ],
    { id: "`id`", f: "`b`", b: "`f`", s: "`s`" },
  ],
  ["not null", [dropColumn("t", "id")], undefined],
  ["may be null when the table is restored", [setNullable("t", "id", true)], undefined],
  ["may not fit", [retypeColumn("t", "id", int64())], undefined],
  ["made anew", [retypeColumn("t", "b", int32(), { using: "length(b)" })], undefined],
  ["a name inside", [renameColumn("t", "s.x", "y")], undefined],
  ["a new column goes", [addColumn("t", "n", utf8())], { id: "`id`", f: "`f`", b: "`b`", s: "`s`" }],
])("rows that are reinserted: %s", (_, steps, expected) => {
  const actions = steps.flatMap(compileStep);
  const database = new Map(before);
  for (const action of actions) change(database, tablesAfter(database, action));
  expect(putBackColumns(table, database.get("t")!, actions)).toEqual(expected);
});

test("dictionaries are not reinserted", () => {
  const one = { columns: columnsOf({ d: dictionary(int8(), utf8()) }) };
  expect(putBackColumns(one, one, [])).toBeUndefined();
});

test("of each action of a migration it is said what rolls it back together with the others", () => {
  const classesOf = (steps: readonly Step[], to = able) => {
    const actions = steps
      .flatMap(compileStep)
      .map((action) => ({ place: { file: "", step: 1, kind: action.kind }, action }));
    const lineages = lineagesOf(actions.map(({ action }) => action));
    return classify(actions, lineages, before, to).map(({ class: is, restores }) => `${is} ${restores ?? ""}`.trim());
  };
  const lossy = [renameColumn("t", "b", "c"), dropColumn("t", "f"), createTable("u", { a: int32() })];
  expect(classesOf(lossy)).toEqual(["restore t", "restore t", "checked"]);
  const { restoreTable: _, ...others } = able.actions;
  expect(classesOf(lossy, { ...able, actions: others })).toEqual(["exact", "none", "checked"]);
  expect(classesOf([createTable("u", { a: int32(), b: int32() }), dropColumn("u", "b")])).toEqual(["checked", "exact"]);
  expect(classesOf([dropColumn("t", "f"), dropTable("t")])).toEqual(["none", "none"]);
});

test("an action's table is told by what became of its name", () => {
  const actions = [
    dropTable("a"),
    createTable("a", { x: int32() }),
    renameTable("a", "b"),
    addColumn("b", "n", utf8()),
  ].flatMap(compileStep) as readonly Action[];
  const [first, ...others] = lineagesOf(actions);
  expect(first).toEqual({ origin: "a", last: undefined });
  expect(new Set(others)).toEqual(new Set([{ origin: undefined, last: "b" }]));
});
