import { expect, test } from "vitest";
import {
  keepingValues,
  questionsOf,
  restoringAfter,
  type Question,
} from "../../../../src/plan/assess/blocking-rows.ts";
import type { Plan, PlannedMigration } from "../../../../src/plan/make-plan.ts";
import type { Action, PutBackRowsAction } from "../../../../src/actions/model/action.ts";
import { columnsOf, float32, float64, int32, int64, list, utf8 } from "../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../src/schema/typed/shape.ts";
import type { Blocker } from "../../../../src/actions/model/inverse.ts";

const columns = columnsOf({ id: int32(), title: utf8() });
const now = new Map([["t", { columns }]]);
const place = { file: "0002_more.ts", step: 1, kind: "dropColumn" };
const at = { table: "t", path: "id" };

/** A rollback by these actions, each with what may be in its way. */
function backBy(...steps: readonly (readonly [Action, ...Blocker[]])[]): PlannedMigration {
  return {
    actions: steps.map(([action]) => ({ place, action })),
    blockers: steps.flatMap(([, ...blockers], index) => blockers.map((blocker) => ({ place, blocker, at: index }))),
    done: 0,
    midway: undefined,
  } as unknown as PlannedMigration;
}

const questions = (...migrations: readonly PlannedMigration[]) => questionsOf({ now, migrations });
const drop: Action = { kind: "dropColumns", table: "t", paths: ["id"] };
const wordsOf = ({ words }: Question) => [words(1, 1), words(2, 2), words(undefined)];

test.each<[Blocker, Partial<Question>, readonly string[]]>([
  [
    { kind: "null", ...at },
    { allowed: 0, spans: undefined, mayLose: false, isRefused: true },
    [
      "1 row of t.id is null, and it was not null before",
      "2 rows of t.id are null, and it was not null before",
      "0 rows of t.id are null, and it was not null before",
    ],
  ],
  [
    { kind: "vectors", ...at, least: 256 },
    { allowed: Infinity, least: 256, mayLose: false, isRefused: true },
    [
      "t.id has 1 vector, and its index needs at least 256 to be made again",
      "t.id has 2 vectors, and its index needs at least 256 to be made again",
      "t.id has 0 vectors, and its index needs at least 256 to be made again",
    ],
  ],
  [
    { kind: "values", ...at },
    { allowed: 0, mayLose: true, isRefused: false },
    [
      "1 row of t.id has a value, which the rollback drops",
      "2 rows of t.id have values, which the rollback drops",
      "values of t.id can't be looked for here, and the rollback drops them",
    ],
  ],
  [
    { kind: "filled", ...at, version: 7 },
    { allowed: Infinity, since: 7, spans: [{ from: 7, until: undefined }], mayLose: true, isRefused: false },
    [
      "1 row of t was written since, and the rollback drops values of t.id",
      "2 rows of t were written since, and the rollback drops values of t.id",
      "0 rows of t.id have values, of which an unknown number was written since; the rollback drops them",
    ],
  ],
  [
    { kind: "misfit", ...at, to: int64().type },
    { allowed: 0, mayLose: false, isRefused: true },
    ["1 row of t.id does not fit int64", "2 rows of t.id do not fit int64", "0 rows of t.id do not fit int64"],
  ],
  [
    { kind: "cast", ...at, from: int64().type, to: int32().type },
    { allowed: 0, mayLose: false, isRefused: true },
    [
      "1 row of t.id does not come back from int64 to int32 as it is",
      "2 rows of t.id do not come back from int64 to int32 as they are",
      "values of t.id can't be compared here, and may not come back from int64 to int32 as they are",
    ],
  ],
  [
    { kind: "rows", table: "t", own: 3, version: 4 },
    { allowed: 3, since: 4, mayLose: true, isRefused: false },
    [
      "t has 1 row, 1 of them written since, and goes with them",
      "t has 2 rows, 2 of them written since, and goes with them",
      "rows of t can't be counted here, and it goes with them",
    ],
  ],
])("what is asked about %j", (blocker, about, words) => {
  const { rows, since } = questions(backBy([drop, blocker]));
  expect(since).toEqual([]);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ place, wasAsked: false, ...about });
  expect(wordsOf(rows[0]!)).toEqual(words);
  expect(rows[0]!.asks.map(({ table }) => table)).toEqual(["t"]);
});

test("a rounding cast may be consented to", () => {
  const blocker: Blocker = { kind: "cast", ...at, from: float64().type, to: { kind: "float32" } };
  expect(questions(backBy([drop, blocker])).rows[0]).toMatchObject({ mayLose: true, isRefused: false });
});

test("items of a list that may not fit are asked about, unless the cast changes others", () => {
  const ask = (item: ColumnType, to: ColumnType) => {
    const lists = new Map([["t", { columns: columnsOf({ id: list(item) }) }]]);
    const blocker: Blocker = { kind: "misfit", ...at, to: list(to).type };
    return questionsOf({ now: lists, migrations: [backBy([drop, blocker])] }).rows.flatMap(({ asks }) => asks);
  };
  expect(ask(int64(), int32())).toMatchObject([{ table: "t", column: "id" }]);
  expect(ask(float64(), float32())).toEqual([]);
});

test("rows of a table that is made on the way are nobody's", () => {
  const create: Action = { kind: "createTable", table: "made", columns: [] } as never;
  const dropMade: Action = { kind: "dropTable", table: "made" };
  const { rows } = questions(backBy([create], [dropMade, { kind: "rows", table: "made", own: 0 }]));
  expect(rows).toEqual([]);
});

const as = { columns: columnsOf({ old: utf8() }) };
const restore = (version: number): Action => ({
  kind: "restoreTable",
  table: "t",
  version,
  after: 9,
  as,
  isSilent: true,
});
const putBack: Action = { kind: "putBackRows", table: "t", version: 3, after: 9, columns: { old: "old" } };
const wholly: Blocker = { kind: "since", table: "t", version: 9, writes: false, leaves: [] };

test("what was written since is asked of the table that is restored, and in which form rows can be reinserted", () => {
  const asked = {
    place,
    table: "t",
    version: 9,
    writes: false,
    spans: [{ from: 9, until: undefined }],
    restores: 3,
    after: 9,
    as,
    until: undefined,
    reinsertion: putBack as PutBackRowsAction,
    leaves: [],
    empty: [],
    isWhole: true,
    newer: 0,
  };
  const sinceOf = (...migrations: readonly PlannedMigration[]) => questions(...migrations).since;
  expect(sinceOf(backBy([restore(3), wholly], [putBack]))).toEqual([asked]);
  expect(sinceOf(backBy([restore(3), wholly]))).toMatchObject([{ reinsertion: undefined, isWhole: false }]);
  const leaving = { ...putBack, leaves: ["title"] } as Action;
  expect(sinceOf(backBy([restore(3), wholly], [leaving]))).toMatchObject([{ reinsertion: leaving, isWhole: false }]);
  const { columns: _, ...lost } = putBack as Action & { columns: unknown };
  expect(sinceOf(backBy([restore(3), wholly], [lost as Action]))).toMatchObject([{ reinsertion: undefined }]);
  const unknown = sinceOf(backBy([restore(3), { ...wholly, version: undefined }], [putBack]));
  expect(unknown).toMatchObject([{ version: undefined, spans: undefined }]);
  expect(sinceOf(backBy([restore(3), { ...wholly, table: "gone" }]))).toEqual([]);
});

test("what all newer migrations wrote themselves was not written by others", () => {
  const newer = (own: readonly [number, number]): PlannedMigration => ({
    ...backBy([{ ...drop, paths: ["title"] }]),
    tables: { t: own },
  });
  const { since } = questions(newer([12, 13]), newer([9, 10]), backBy([restore(3), wholly], [putBack]));
  expect(since).toMatchObject([{ spans: [{ from: 10, until: 12 }, { from: 13 }] }]);
});

test("rows that the way back changes before can't be told from those of others", () => {
  const write: Action = { kind: "deleteRows", table: "t", where: "id = 1" };
  expect(questions(backBy([write], [restore(3), wholly], [putBack])).since).toMatchObject([
    { version: undefined, reinsertion: undefined },
  ]);
  const elsewhere: Action = { kind: "deleteRows", table: "other", where: "id = 1" };
  expect(questions(backBy([elsewhere], [restore(3), wholly], [putBack])).since).toMatchObject([
    { version: 9, reinsertion: putBack },
  ]);
});

test("of a table that is restored twice the older version is compared with the one that is restored before", () => {
  const older: Blocker = { ...wholly, version: 4 } as Blocker;
  const { since } = questions(backBy([restore(3), wholly]), backBy([restore(1), older]));
  expect(since.map(({ restores, until }) => [restores, until])).toEqual([
    [3, undefined],
    [1, 3],
  ]);
});

test("versions are restored only after the one at which the rollback began", () => {
  const actions = (starts: Parameters<typeof restoringAfter>[1]) =>
    restoringAfter(backBy([restore(3)], [putBack], [drop]), starts).actions.map(({ action }) =>
      "after" in action ? action.after : undefined,
    );
  expect(actions({ t: [12, null] })).toEqual([12, 12, undefined]);
  expect(actions({ t: [5, null] })).toEqual([9, 9, undefined]);
  expect(actions({ other: [12, null] })).toEqual([9, 9, undefined]);
});

test("without consent rows keep what they have in columns that would be dropped", () => {
  const leaving = { ...wholly, leaves: ["title"] } as Blocker;
  const plan = { migrations: [backBy([restore(3), leaving], [putBack])] } as unknown as Plan;
  expect(keepingValues(plan).migrations[0]!.actions.map(({ action }) => action)).toEqual([
    restore(3),
    { ...putBack, leaves: ["title"] },
  ]);
});
