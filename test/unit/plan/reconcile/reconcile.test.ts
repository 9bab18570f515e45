import { guardColumn } from "../../../../src/actions/rewrite/append-guard.ts";
import { createTable, int32, int64, renameColumn, retypeColumn, setNullable, utf8, type Step } from "lance-migrate";
import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import type { LedgerState } from "../../../../src/ledger/state/ledger-state.ts";
import type { Migration } from "../../../../src/migrations/load.ts";
import { makePlan, type Plan } from "../../../../src/plan/make-plan.ts";
import { indexedTables, reconcile, touchedTables } from "../../../../src/plan/reconcile/reconcile.ts";
import { applyAction } from "../../../support/fold.ts";
import type { Database, Tables } from "../../../../src/schema/table.ts";
import type { Capabilities } from "../../../../src/targets/contract/target.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";
import { aLedger, aMigration } from "../../../support/migrations.ts";

interface Given {
  readonly applied?: readonly Migration[];
  readonly pending: readonly Migration[];
  /** Applied ones that the plan rolls back. */
  readonly back?: readonly Migration[];
  readonly inDoubt?: readonly number[];
  readonly state?: LedgerState;
  readonly capabilities?: Capabilities;
}

const few = { actions: { createTable: true, alterColumns: true }, describes: true, fences: true } as const;

function planOf({ applied = [], pending, back, inDoubt = [], state, capabilities = few }: Given): Plan {
  return makePlan({
    migrations: [...applied, ...pending],
    pending: back ?? pending,
    direction: back === undefined ? "up" : "down",
    state: state ?? aLedger(...applied.map((one) => ["applied", one] as const)),
    inDoubt: new Set(inDoubt),
    target: { name: "t", capabilities },
    ledger: "_migrations",
  });
}

/** The tables after the first so many actions of the plan, as a look at them would show. */
function sightsAfter(plan: Plan, count: number): Tables {
  const actions = plan.migrations.flatMap((planned) => planned.actions.map(({ action }) => action));
  const database = actions.slice(0, count).reduce<Database>(applyAction, plan.now);
  return new Map(touchedTables(plan).map((table) => [table, database.get(table)]));
}

/** How many actions each migration has left, and how many of it are done. */
const leftOf = ({ migrations }: Plan) => migrations.map(({ done, actions }) => [done, actions.length]);

const create = aMigration(1, [createTable("documents", { id: int32(), title: utf8() })]);
const createBoth = aMigration(1, [
  createTable("documents", { id: int32(), title: utf8() }),
  createTable("pages", { id: int32(), title: utf8() }),
]);
const headline = renameColumn("documents", "title", "headline");
const widen = retypeColumn("documents", "id", int64());
const tighten = setNullable("documents", "id", false);
test("a migration in doubt that has not begun is planned whole", () => {
  const plan = planOf({ applied: [create], pending: [aMigration(2, [headline])], inDoubt: [2] });
  expect(reconcile(plan, sightsAfter(plan, 0))).toEqual(plan);
});

test("migrations after the one in doubt may touch the same tables", () => {
  const pending = [
    aMigration(2, [headline, widen]),
    aMigration(3, [tighten, renameColumn("documents", "headline", "name")]),
  ];
  const plan = planOf({ applied: [create], pending, inDoubt: [2] });
  const found = [0, 1, 2].map((count) => leftOf(reconcile(plan, sightsAfter(plan, count))));
  expect(found).toEqual([
    [
      [0, 2],
      [0, 2],
    ],
    [
      [1, 1],
      [0, 2],
    ],
    [
      [2, 0],
      [0, 2],
    ],
  ]);
});

test("the migration after the one in doubt has not run, whatever its tables look like", () => {
  const plan = planOf({
    applied: [create],
    pending: [aMigration(2, [headline]), aMigration(3, [widen])],
    inDoubt: [2],
  });
  expect(() => reconcile(plan, sightsAfter(plan, 2))).toThrow(expect.objectContaining({ code: "ERR_DRIFT" }));
});

test("a migration in doubt that has done nothing does not explain what one before it would have done", () => {
  // A migration that was renumbered may run after others.
  const plan = planOf({
    applied: [create],
    pending: [aMigration(2, [headline]), aMigration(3, [widen])],
    inDoubt: [3],
  });
  expect(() => reconcile(plan, sightsAfter(plan, 1))).toThrow(expect.objectContaining({ code: "ERR_DRIFT" }));
});

const byHand =
  "the pending changes are there already; if the ledger was lost or is older than the tables, see migrate repair; otherwise undo them or mark the migration as applied: migrate baseline";
const broughtBack = "bring table documents back from a backup, then run it again";
const putBack =
  "something else has changed it, or the table or the ledger was restored; migrate verify shows since when, and what to do";

test("pending changes that are made already, without a doubt about them, are drift and said to be so", () => {
  const plan = planOf({ applied: [create], pending: [aMigration(2, [headline]), aMigration(3, [widen])] });
  expect(() => reconcile(plan, sightsAfter(plan, 2))).toThrow(
    expect.objectContaining({
      code: "ERR_DRIFT",
      details: {
        table: "documents",
        hint: byHand,
        differences: [
          "column id is int64 instead of int32",
          "column title is missing",
          "column headline (utf8) was not expected",
        ],
      },
    }),
  );
});

test("the hint for a table that exists already names the migration, and the rows that the schema does not show", () => {
  const filled = createTable("documents", { id: int32() }, { rows: [{ id: 1 }, { id: 2 }] });
  for (const [step, condition] of [
    [filled, " and table documents has the 2 rows of this step"],
    [create.steps[0]!, ""],
  ] as const) {
    const plan = planOf({ pending: [aMigration(1, [step])] });
    const hint = `it is as 0001_m1 would leave it: if it was there before the migrations${condition}, run migrate baseline; if the ledger was lost or is older than the tables, see migrate repair`;
    expect(() => reconcile(plan, sightsAfter(plan, 1))).toThrow(
      expect.objectContaining({ code: "ERR_DRIFT", details: expect.objectContaining({ hint }) }),
    );
  }
});

test("the hint for a migration whose change was undone by hand is about rolling back", () => {
  const second = aMigration(2, [headline]);
  const plan = planOf({ applied: [create, second], back: [second], pending: [] });
  const hint =
    "something other than migrate down has undone 0002_m2 there; make that change again, then run migrate down again; or, if it must stay undone, mark it as rolled back: migrate resolve --reverted 0002_m2";
  expect(() => reconcile(plan, sightsAfter(plan, 1))).toThrow(
    expect.objectContaining({ code: "ERR_DRIFT", details: expect.objectContaining({ hint }) }),
  );
});

test.each([
  { what: "a table that is gone", found: undefined, differences: ["it does not exist"], hint: broughtBack },
  {
    what: "another column",
    found: { columns: [{ name: "id", type: { kind: "int32" }, nullable: true } as const] },
    differences: ["column title is missing"],
    hint: putBack,
  },
  {
    what: "the column that keeps appends out, which came late",
    found: {
      columns: [
        { name: "id", type: { kind: "int32" }, nullable: true } as const,
        { name: "title", type: { kind: "utf8" }, nullable: true } as const,
        guardColumn,
      ],
    },
    differences: ["column _lance_migrate_guard (int8 not null) was not expected"],
    hint: "a run that was suspended has added _lance_migrate_guard late, and the table refuses appends while it is there; drop this column, then run it again",
  },
])("$what is drift, in doubt or not, and the differences are named", ({ found, differences, hint }) => {
  for (const inDoubt of [[], [2]]) {
    const plan = planOf({ applied: [create], pending: [aMigration(2, [headline])], inDoubt });
    expect(() => reconcile(plan, new Map([["documents", found]]))).toThrow(
      expect.objectContaining({ code: "ERR_DRIFT", details: { table: "documents", differences, hint } }),
    );
  }
});

test("a table that is there and is to be created is drift", () => {
  const plan = planOf({ pending: [create] });
  const columns = [{ name: "other", type: { kind: "int32" }, nullable: true } as const];
  expect(() => reconcile(plan, new Map([["documents", { columns }]]))).toThrow(
    expect.objectContaining({
      code: "ERR_DRIFT",
      details: {
        table: "documents",
        differences: ["it exists, but should not"],
        hint: expect.stringMatching(
          /; otherwise remove the step that creates table documents, or let it create a table of another name$/,
        ),
      },
    }),
  );
});

test("a change of another table is drift even if the first action is between two of its commits", () => {
  const migration = aMigration(2, [widen, renameColumn("pages", "title", "headline")]);
  const capabilities = abilitiesOf("embedded");
  const plan = planOf({ applied: [createBoth], pending: [migration], inDoubt: [2], capabilities });
  const { commits } = plan.migrations[0]!.actions[0]!;
  const midway = new Map([...sightsAfter(plan, 0), ...commits[0]!.after]);
  expect(reconcile(plan, midway)).toEqual(plan);
  expect(() => reconcile(plan, new Map([...midway, ["pages", { columns: [] }]]))).toThrow(
    expect.objectContaining({ code: "ERR_DRIFT" }),
  );
});

const back = renameColumn("documents", "headline", "title");

test("nothing is found done past an action before which the ledger would have been written", () => {
  const plan = planOf({ applied: [create], pending: [aMigration(2, [headline, back, widen])], inDoubt: [2] });
  // As before the first action and as after the second: the record between them is missing, so it is the former.
  expect(leftOf(reconcile(plan, sightsAfter(plan, 2)))).toEqual([[0, 3]]);
  // As after the third: nobody can have got there without that record.
  expect(() => reconcile(plan, sightsAfter(plan, 3))).toThrow(expect.objectContaining({ code: "ERR_DRIFT" }));
});

/** Steps that go back and forth over three tables, so that the same states come again and again. */
const tables = ["t", "u", "v"] as const;
type Toggle = (table: string, back: boolean) => Step;
const toggles: readonly Toggle[] = [
  (table, undo) => renameColumn(table, undo ? "c" : "a", undo ? "a" : "c"),
  (table, undo) => retypeColumn(table, "b", undo ? int32() : int64()),
  (table, undo) => setNullable(table, "b", undo),
];

/** Toggles as steps; a table's first one creates it. */
function stepsOf(chosen: readonly (readonly [table: number, toggle: number])[]): readonly Step[] {
  const made = new Set<number>();
  const turned = new Set<string>();
  return chosen.map(([table, toggle]) => {
    const tableName = tables[table]!;
    if (!made.has(table)) {
      made.add(table);
      return createTable(tableName, { a: int32(), b: int32() });
    }
    const key = `${table} ${toggle}`;
    const undo = turned.delete(key);
    if (!undo) turned.add(key);
    return toggles[toggle]!(tableName, undo);
  });
}

const chosenSteps = fc.array(fc.tuple(fc.nat({ max: tables.length - 1 }), fc.nat({ max: toggles.length - 1 })), {
  minLength: 1,
  maxLength: 14,
});

/** Runs of steps, cut into migrations of which the first ones are applied. */
const drawn = fc.record({
  chosen: chosenSteps,
  cuts: fc.array(fc.nat({ max: 14 }), { maxLength: 3 }),
  reached: fc.nat(),
});

test("of any migration that died anywhere since its last record just what ran is found", () => {
  fc.assert(
    fc.property(drawn, ({ chosen, cuts, reached }) => {
      const steps = stepsOf(chosen);
      const ends = [...new Set([...cuts.map((cut) => cut % steps.length), steps.length])].filter((end) => end > 0);
      const sorted = ends.toSorted((one, other) => one - other);
      const migrations = sorted.map((end, index) => aMigration(index + 1, steps.slice(sorted[index - 1] ?? 0, end)));
      const applied = migrations.slice(0, reached % migrations.length);
      const pending = migrations.slice(applied.length);
      const dying = pending[0]!;

      // The executor's rule: what came before an action that is to be recorded first is in the ledger.
      for (let recorded = 0; recorded < dying.steps.length; recorded++) {
        const state = aLedger(...applied.map((one) => ["applied", one] as const), ["failed", dying, recorded]);
        const plan = planOf({ applied, pending, state, inDoubt: [dying.version] });
        const { actions } = plan.migrations[0]!;
        const border = actions.findIndex(({ recordFirst }) => recordFirst);
        const most = border === -1 ? actions.length : border;
        for (let count = 0; count <= most; count++) {
          const [settled, ...others] = reconcile(plan, sightsAfter(plan, count)).migrations;
          expect([settled!.done, settled!.actions]).toEqual([recorded + count, actions.slice(count)]);
          expect(others).toEqual(plan.migrations.slice(1));
        }
      }
    }),
    { numRuns: 150 },
  );
});

test("every record of the plan is one that is needed, or the state was seen since the last", () => {
  fc.assert(
    fc.property(chosenSteps, (chosen) => {
      const migration = aMigration(1, stepsOf(chosen));
      const { migrations, now } = planOf({ pending: [migration] });
      let seen = [now];
      let database = now;
      for (const [index, { action, recordFirst }] of migrations[0]!.actions.entries()) {
        const next = applyAction(database, action);
        const again = seen.some((one) => JSON.stringify([...one].toSorted()) === JSON.stringify([...next].toSorted()));
        expect({ index, recordFirst }).toEqual({ index, recordFirst: again });
        if (recordFirst) seen = [database];
        seen.push(next);
        database = next;
      }
    }),
    { numRuns: 150 },
  );
});

test("only tables that are still to be changed are looked at", () => {
  const applied = aMigration(1, [createTable("other", { id: int32() }), createTable("documents", { id: int32() })]);
  expect(touchedTables(planOf({ applied: [applied], pending: [aMigration(2, [widen, tighten])] }))).toEqual([
    "documents",
  ]);
});

test("indexes are looked at where they are known, and where a column is rewritten that may have one", () => {
  const planOf = (action: object, table: object) => {
    const tables = new Map([["t", { columns: [], ...table }]]);
    return { now: tables, migrations: [{ actions: [{ action, before: tables, after: tables }] }] } as never as Plan;
  };
  const alter = (to: object) => ({ kind: "alterColumns", table: "t", alterations: [{ path: "a", ...to }] });
  expect([...indexedTables(planOf(alter({ rename: "b" }), {}))]).toEqual([]);
  expect([...indexedTables(planOf(alter({ type: { kind: "int64" } }), {}))]).toEqual(["t"]);
  expect([...indexedTables(planOf(alter({ rename: "b" }), { indexes: {} }))]).toEqual(["t"]);
});

test("a migration that was undone by hand in one of its tables only is not said to be undone", () => {
  const second = aMigration(2, [headline, renameColumn("pages", "title", "headline")]);
  const plan = planOf({ applied: [createBoth, second], back: [second], pending: [] });
  expect(() => reconcile(plan, sightsAfter(plan, 1))).toThrow(
    expect.objectContaining({ code: "ERR_DRIFT", details: expect.objectContaining({ hint: putBack }) }),
  );
});
