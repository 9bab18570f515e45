import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../../../src/ledger/state/ledger-state.ts";
import type { LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { chosenPlace, nearestPlace } from "../../../../src/features/repair/repair/chosen-position.ts";
import { fittingPlaces, placesIn } from "../../../../src/plan/history/position.ts";
import { historyLine, tablesOfHistory } from "../../../../src/plan/history/timeline.ts";
import { sameTable, type Table, type Tables } from "../../../../src/schema/table.ts";
import { aMigration } from "../../../support/migrations.ts";

const describing = { describes: true, actions: {} };
const empty = foldLedger([]);

const create = (table: string) => ({
  kind: "createTable",
  table,
  columns: ["a", "b"].map((name) => ({ name, type: { kind: "int32" }, nullable: true })),
});
const rename = (table: string, path: string, name: string) => ({ kind: "renameColumn", table, path, name });
const retype = (table: string, kind: string) => ({ kind: "retypeColumn", table, path: "b", type: { kind } });

const migrations = [
  aMigration(1, [create("t")]),
  aMigration(2, [create("u"), rename("t", "a", "c")]),
  aMigration(3, [retype("u", "int64"), rename("u", "a", "d")]),
];
const row = historyLine(migrations, empty, describing);

/** The tables once so many actions of a row are done. */
function after(done: number, of = row): Tables {
  const sights = new Map<string, Table | undefined>(tablesOfHistory(of).map((table) => [table, undefined]));
  for (const { after: tables } of of.actions.slice(0, done))
    for (const [name, table] of tables) sights.set(name, table);
  return sights;
}

test.each([
  { done: 0, words: "before the first migration", choice: "start" },
  { done: 1, words: "after 0001_m1", choice: "0001" },
  { done: 2, words: "after 1 of 2 actions of 0002_m2", choice: "0002.1" },
  { done: 3, words: "after 0002_m2", choice: "0002" },
  { done: 5, words: "after 0003_m3", choice: "0003" },
])("tables are found to be as they were $words", ({ done, words, choice }) => {
  const place = { done, words, choice, isMidway: false };
  expect(fittingPlaces(row, after(done))).toEqual([place]);
  expect(chosenPlace(row, choice)).toEqual(place);
});

test.each(["0", "4", "0002.3", "0002.0", "9.1"])("there is no place %s", (choice) => {
  expect(chosenPlace(row, choice)).toBeUndefined();
});

test("where no place fits, the one with the fewest differences is nearest", () => {
  const strange = new Map([...after(5), ["t", after(1).get("t")]]);
  expect(fittingPlaces(row, strange)).toEqual([]);
  expect(nearestPlace(row, strange)).toEqual({
    place: expect.objectContaining({ done: 5 }),
    differences: [
      { table: "t", kind: "changed", differences: ["column c is missing", "column a (int32) was not expected"] },
    ],
  });
});

test("a place where a table is gone is nearer than one where another would have to be dropped", () => {
  const columns = ["a", "b", "c", "d"].map((name) => ({ name, type: { kind: "int32" }, nullable: true }));
  const two = historyLine(
    [aMigration(1, [{ kind: "createTable", table: "w", columns }]), aMigration(2, [create("t")])],
    empty,
    describing,
  );
  expect(nearestPlace(two, new Map([...after(2, two), ["w", undefined]]))).toEqual({
    place: expect.objectContaining({ done: 2 }),
    differences: [{ table: "w", kind: "gone", differences: ["it does not exist"] }],
  });
});

test("a row of actions that goes there and back has every place at which the tables are the same", () => {
  const back = [...migrations, aMigration(4, [retype("u", "int32")]), aMigration(5, [retype("u", "int64")])];
  const long = historyLine(back, empty, describing);
  expect(fittingPlaces(long, after(5)).map(({ choice }) => choice)).toEqual(["0003", "0005"]);
});

function ranInOrder(...versions: readonly number[]): LedgerState {
  const who = { by: "ann", run: "r", tool: "t", at: 1, applied: "", previous: "" };
  return foldLedger(
    versions.map((version, number): LedgerRecord => ({
      ...who,
      epoch: 1,
      number,
      event: "applied",
      version,
      name: `m${version}`,
    })),
  );
}

test("migrations that the ledger knows come in the order in which they ran, and that of the files where that can't be", () => {
  const order = (state: LedgerState) => [
    ...new Set(historyLine(migrations, state, describing).actions.map(({ migration }) => migration.version)),
  ];
  expect(order(empty)).toEqual([1, 2, 3]);
  const others = [...migrations, aMigration(4, [rename("t", "b", "z")])];
  const ran = historyLine(others, ranInOrder(1, 2, 4), describing);
  expect([...new Set(ran.actions.map(({ migration }) => migration.version))]).toEqual([1, 2, 4, 3]);
  expect(order(ranInOrder(3, 1, 2))).toEqual([1, 2, 3]);
});

test("tables are looked for in the ledger's order where what it lost ran in another than that of the files", () => {
  const others = [...migrations, aMigration(4, [rename("t", "b", "z")])];
  const ran = { ...ranInOrder(1, 2, 4), lastStatement: { ...ranInOrder(1).head!, applied: "of something else" } };
  const beside = historyLine(others, ran, describing);
  for (const done of [1, 3, 4, 6]) expect(placesIn(others, ran, after(done, beside), describing).fits).not.toEqual([]);
  const { fits } = placesIn(others, ran, after(4, beside), describing);
  expect(fits).toMatchObject([{ done: 4, words: "after 0004_m4", choice: "0004" }]);
});

test("what the ledger knows wholly has the order in which it ran, whatever the tables would allow", () => {
  const others = [...migrations, aMigration(4, [rename("t", "b", "z")])];
  const orderFor = (state: LedgerState) => {
    const { row: found, fits } = placesIn(others, state, after(6, historyLine(others, empty, describing)), describing);
    expect(fits).toMatchObject([{ done: 6 }]);
    return [...new Set(found.actions.map(({ migration }) => migration.version))];
  };
  const ran = ranInOrder(1, 2, 4);
  expect(orderFor(ran)).toEqual([1, 2, 4, 3]);
  expect(orderFor({ ...ran, lastStatement: { ...ran.head!, applied: "of something else" } })).toEqual([1, 2, 3, 4]);
});

test("a row ends at a step that can't be, and says why", () => {
  const short = historyLine([...migrations, aMigration(4, [create("t")])], empty, describing);
  expect([short.actions.length, short.problem?.code]).toEqual([5, "ERR_TABLE_EXISTS"]);
});

test("a place fits exactly when every table is as it is there, and the nearest then has no differences", () => {
  const step = fc.constantFrom(
    (back: boolean) => rename("t", back ? "c" : "a", back ? "a" : "c"),
    (back: boolean) => retype("t", back ? "int32" : "int64"),
    (back: boolean) => rename("u", back ? "c" : "a", back ? "a" : "c"),
  );
  fc.assert(
    fc.property(fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 4 }), fc.nat(), (drawn, at) => {
      const turned = new Map<unknown, boolean>();
      const steps = drawn.map((some) =>
        some.map((make) => {
          const back = turned.get(make) ?? false;
          turned.set(make, !back);
          return make(back);
        }),
      );
      const made = [[create("t"), create("u")], ...steps].map((some, index) => aMigration(index + 1, some));
      const long = historyLine(made, empty, describing);
      const done = at % (long.actions.length + 1);
      const sights = after(done, long);
      const expected = Array.from({ length: long.actions.length + 1 }, (_, index) => index).filter((index) =>
        [...after(index, long)].every(([table, state]) => sameTable(state, sights.get(table))),
      );
      expect(fittingPlaces(long, sights).map((place) => place.done)).toEqual(expected);
      expect(nearestPlace(long, sights)).toMatchObject({ place: { done: expected.at(-1) }, differences: [] });
      for (const place of fittingPlaces(long, sights)) expect(chosenPlace(long, place.choice)).toEqual(place);
    }),
  );
});
