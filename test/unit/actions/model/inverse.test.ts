import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import { actionKinds, tablesAfter, invert } from "../../../../src/actions/apply-action.ts";
import {
  columnsOf,
  float32,
  float64,
  int32,
  int64,
  struct,
  utf8,
} from "../../../../src/schema/declare/type-builders.ts";
import { btree } from "../../../../src/schema/declare/index-builders.ts";
import { change, sameTables, type Table } from "../../../../src/schema/table.ts";
import { chanceOf } from "../../../simulate/seeded-random.ts";
import { compileStep } from "../../../../src/steps/registry.ts";
import { models } from "../../../simulate/target/carry.ts";
import { drawHistory } from "../../../simulate/history.ts";
import { rounds } from "../../../support/rounds.ts";

const table: Table = {
  columns: columnsOf({ a: int32().notNull(), b: utf8(), f: float64(), s: struct({ x: int32(), y: int64() }) }),
  indexes: { i: { path: "a", ...btree() } },
};
const before = new Map([["t", table]]);
const alter = (...alterations: Extract<Action, { kind: "alterColumns" }>["alterations"]): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations,
});

/** In words: the actions' alterations, and what may block the rollback. */
function backOf(action: Action) {
  const way = invert(action, before);
  if ("lost" in way) return way.lost;
  const actions = way.actions.map((one) => (one.kind === "alterColumns" ? one.alterations : one.kind));
  return [...actions, ...way.blockers.map(({ kind }) => kind)];
}

test.each<[string, Action, unknown]>([
  ["a rename", alter({ path: "a", rename: "z" }), [[{ path: "z", rename: "a" }]]],
  [
    "a rename inside",
    alter({ path: "s", rename: "r" }, { path: "s.x", rename: "w" }),
    [
      [
        { path: "r", rename: "s" },
        { path: "r.w", rename: "x" },
      ],
    ],
  ],
  [
    "a swap",
    alter({ path: "a", rename: "b" }, { path: "b", rename: "a" }),
    [
      [
        { path: "b", rename: "a" },
        { path: "a", rename: "b" },
      ],
    ],
  ],
  ["a wider type", alter({ path: "a", type: int64().type }), [[{ path: "a", type: int32().type }], "cast"]],
  [
    "another one that holds the same",
    alter({ path: "s.y", type: int32().type }),
    [[{ path: "s.y", type: int64().type }]],
  ],
  [
    "a type that holds less",
    alter({ path: "f", type: float32().type }),
    "t.f may silently lose precision or range: float64 to float32",
  ],
  ["nullable", alter({ path: "a", nullable: true }), [[{ path: "a", nullable: false }], "null"]],
  ["not null", alter({ path: "b", nullable: false }), [[{ path: "b", nullable: true }]]],
  [
    "several of them",
    alter({ path: "a", rename: "z", type: int64().type, nullable: true }),
    [[{ path: "z", nullable: false }], [{ path: "z", rename: "a", type: int32().type }], "cast", "null"],
  ],
  ["a new column", { kind: "addColumns", table: "t", columns: columnsOf({ n: int32() }) }, ["dropColumns", "values"]],
  ["a table", { kind: "createTable", table: "u", columns: columnsOf({ n: int32() }) }, ["dropTable", "rows"]],
  ["a new index", { kind: "createIndex", table: "t", name: "j", index: { path: "b", ...btree() } }, ["dropIndex"]],
  ["a dropped index", { kind: "dropIndex", table: "t", name: "i" }, ["createIndex"]],
  [
    "one that no migration made",
    { kind: "dropIndex", table: "t", name: "k" },
    "no migration created index k, so how to recreate it is unknown",
  ],
])("%s: how it is rolled back", (_, action, expected) => {
  expect(backOf(action)).toEqual(expected);
});

test("whatever can be rolled back by actions leads back to the very tables", () => {
  const [taken, lost] = [new Set<string>(), new Set<string>()];
  for (let seed = 1; seed <= rounds(1_000, 3_000); seed++) {
    const database = new Map<string, Table>();
    for (const { steps } of drawHistory(chanceOf(seed), models[seed % 2]!))
      for (const action of steps.flatMap(compileStep)) {
        const was = new Map(database);
        change(database, tablesAfter(database, action));
        const way = invert(action, was);
        ("lost" in way ? lost : taken).add(action.kind);
        if ("lost" in way) continue;
        const back = new Map(database);
        for (const one of way.actions) change(back, tablesAfter(back, one));
        expect([...back.keys()].toSorted()).toEqual([...was.keys()].toSorted());
        // Both ways: of an index that was dropped it is known that it is not there.
        expect({ seed, action, same: sameTables(was, back) }).toEqual({ seed, action, same: true });
      }
  }
  // The first two take others back, one is only part of another, and histories have no code that could compute values.
  const computing = ["backfillColumn", "fillColumn", "populateTable", "prepareColumn", "switchColumn", "catchUpColumn"];
  const back: ReadonlySet<string> = new Set(["putBackRows", "restoreTable", "checkRecall", ...computing]);
  expect([...new Set([...taken, ...lost])].toSorted()).toEqual(
    actionKinds.filter((kind) => !back.has(kind)).toSorted(),
  );
});
