import { expect, test } from "vitest";
import type { TableVersions } from "../../../../src/ledger/state/record.ts";
import type { PlannedMigration } from "../../../../src/plan/make-plan.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../simulate/history.ts";
import { isSince, releaseRestorePoints, trackVersions } from "../../../../src/run/execute/restore-points.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import type { Action } from "../../../../src/actions/model/action.ts";

const drop: Action = { kind: "dropColumns", table: "t", paths: ["a"] };
const update: Action = { kind: "updateRows", table: "t", set: { a: "1" } };
const rename: Action = { kind: "renameTable", table: "t", name: "u" };
const create: Action = { kind: "createTable", table: "t", columns: columnsOf({ a: int32() }) };
const begun = { restores: ["t"], tables: {}, done: 0, inDoubt: false, midway: undefined };
const midway = { step: "", commit: 1, indexes: {}, metadata: {} };

type Ran = readonly [action: Action, before: number | undefined, after: number | undefined, commits?: number];

function after(
  planned: Parameters<typeof trackVersions>[0],
  points: TableVersions | undefined,
  ...ran: readonly Ran[]
) {
  const track = trackVersions(planned);
  if (points !== undefined) track.begin(points);
  for (const [action, before, last, commits] of ran)
    track.note(
      { action },
      {
        commits,
        versionBefore: before === undefined ? undefined : { version: before, at: undefined },
        versionAfter: last === undefined ? undefined : { version: last, at: undefined },
      },
    );
  return track.tables();
}

test("others may have written where a version is not the one before it, or is too far behind it", () => {
  expect(after(begun, { t: [5, null] }, [update, 6, 7])).toEqual({ t: [5, 7, true] });
  expect(after(begun, { t: [5, null] }, [update, 5, 7])).toEqual({ t: [5, 7, true] });
  expect(after(begun, { t: [5, null] }, [drop, 5, 7, 2])).toEqual({ t: [5, 7, "none"] });
  expect(after(begun, { t: [5, null] }, [drop, 5, 7, 3])).toEqual({ t: [5, 7, true] });
  expect(after(begun, { t: [5, null] }, [update, 5, 5, 0], [drop, 5, 6])).toEqual({ t: [5, 6, "none"] });
  expect(after(begun, { t: [5, null] }, [update, 5, 6, 0])).toEqual({ t: [5, 6, true] });
  expect(after(begun, { t: [5, null] }, [update, 6, 7], [drop, 7, 8])).toEqual({ t: [5, 8, true] });
  expect(after(begun, { t: [5, null] }, [update, undefined, 7])).toEqual({ t: [5, 7, true] });
  const own = { ...begun, restores: [] };
  expect(after(own, undefined, [create, undefined, 1], [update, 1, 2])).toEqual({ t: [null, 2, "none"] });
  expect(after(own, undefined, [create, undefined, 1], [update, 2, 3])).toEqual({ t: [null, 3, true] });
});

test("the times are those of the version before the migration and of the one after it", () => {
  const timed = (version: number) => ({ version, at: 10 * version });
  const track = trackVersions({ ...begun, restores: [] });
  track.note({ action: update }, { versionBefore: timed(5), versionAfter: timed(6) });
  expect(track.tables()).toEqual({ t: [5, 6, "none", [50, 60]] });
  track.note({ action: update }, { versionBefore: timed(6), versionAfter: timed(7) });
  expect(track.tables()).toEqual({ t: [5, 7, "none", [50, 70]] });
  // The time of a later version is not that of the first one.
  const resumed = trackVersions({ ...begun, tables: { t: [5, 6] }, done: 1 });
  resumed.note({ action: update }, { versionBefore: timed(6), versionAfter: timed(7) });
  expect(resumed.tables()).toEqual({ t: [5, 7, false, [null, 70]] });
});

test("a table that is created under a name which another one had for a while is recorded by itself", () => {
  const away: Action = { kind: "renameTable", table: "u", name: "v" };
  const createU: Action = { ...create, table: "u" };
  const dropU: Action = { ...drop, table: "u" };
  const ran = [
    [rename, 5, 5],
    [away, 5, 5],
    [createU, undefined, 1],
    [dropU, 1, 2],
  ] as const;
  expect(after({ ...begun, restores: [] }, undefined, ...ran)).toEqual({ t: [5, 5, "none"], u: [null, 2, "none"] });
});

test.each([
  ["after its first action", { done: 1 }],
  ["in the middle of it", { midway }],
  ["in doubt about it", { inDoubt: true }],
])("a run that goes on %s keeps what is known", (_, more) => {
  const known = { restores: [], tables: { t: [5, 6] as const } };
  expect(after({ ...begun, ...known, ...more }, undefined)).toEqual({ t: [5, 6] });
  expect(after({ ...begun, ...known, ...more }, undefined, [drop, 6, 7])).toEqual({ t: [5, 7] });
  expect(after({ ...begun, ...known, ...more }, undefined, [drop, 9, 10])).toEqual({ t: [5, 10, true] });
});

test("one that begins anew does not", () => {
  const before = { ...begun, restores: [], tables: { t: [2, null] as const } };
  expect(after(before, undefined)).toEqual({});
  expect(after(before, undefined, [update, 5, 7])).toEqual({ t: [5, 7] });
});

test("a table is recorded under the name that it had, and one that takes the name is another", () => {
  const moved: Action = { ...update, table: "u" };
  expect(after(begun, { t: [5, null] }, [update, 5, 6], [rename, 6, undefined], [moved, 6, 7])).toEqual({
    t: [5, 7, "none"],
  });
  expect(
    after(begun, { t: [5, null] }, [rename, 5, undefined], [create, undefined, 1], [drop, 1, 2], [moved, 5, 6]),
  ).toEqual({
    t: [5, 6, "none"],
  });
});

const rows = (table: string): Action => ({ ...update, table });
const creating = (table: string): Action => ({ ...create, table });
const renaming = (table: string, name: string): Action => ({ kind: "renameTable", table, name });

test.each<[string, readonly Ran[]]>([
  [
    "a table that takes the name of one that was renamed",
    [
      [update, 5, 6],
      [rename, 6, undefined],
      [create, undefined, 1],
      [rows("t"), 1, 2],
      [rows("u"), 6, 7],
    ],
  ],
  [
    "one that is created, renamed, and whose name is taken again",
    [
      [create, undefined, 1],
      [rename, 1, undefined],
      [create, undefined, 1],
      [rows("u"), 1, 2],
      [rows("t"), 1, 2],
    ],
  ],
  [
    "a name that a table had for a while",
    [
      [rename, 5, 5],
      [renaming("u", "v"), 5, 5],
      [creating("u"), undefined, 1],
      [rows("u"), 1, 2],
      [rows("v"), 5, 6],
    ],
  ],
])("wherever a run is stopped, the next one records the same: %s", (_, ran) => {
  const fresh = { ...begun, restores: [] };
  const whole = after(fresh, undefined, ...ran);
  for (const done of ran.keys()) {
    const tables = after(fresh, undefined, ...ran.slice(0, done));
    const track = trackVersions(
      { ...fresh, tables, done },
      ran.slice(0, done).map(([action]) => action),
    );
    for (const [action, before, last] of ran.slice(done))
      track.note(
        { action },
        {
          versionBefore: before === undefined ? undefined : { version: before, at: undefined },
          versionAfter: last === undefined ? undefined : { version: last, at: undefined },
        },
      );
    expect([done, track.tables()]).toEqual([done, whole]);
  }
});

async function dated(tables: TableVersions, time: () => Promise<number | undefined>, ...ran: readonly Action[]) {
  const asked: unknown[] = [];
  const track = trackVersions({ ...begun, tables, done: 1 }, ran);
  const versions = {
    time: async (...given: readonly [string, number]) => {
      asked.push(given);
      return await time();
    },
  } as unknown as Target["versions"];
  await track.date({ versions });
  return { tables: track.tables(), asked };
}

test("only versions without a time are asked for it", async () => {
  const known: TableVersions = { t: [5, 6], u: [1, 2, false, [10, 20]], v: [3, null], w: [7, 8, true, [70, null]] };
  expect(await dated(known, async () => 60)).toEqual({
    tables: { ...known, t: [5, 6, false, [null, 60]], w: [7, 8, true, [70, 60]] },
    asked: [
      ["t", 6],
      ["w", 8],
    ],
  });
});

test("a renamed table is asked under its new name for the time of its version", async () => {
  expect(await dated({ t: [5, 6] }, async () => 60, rename)).toEqual({
    tables: { t: [5, 6, false, [null, 60]] },
    asked: [["u", 6]],
  });
});

test("a version whose time is unknown is recorded without one", async () => {
  expect((await dated({ t: [5, 6] }, async () => undefined)).tables).toEqual({ t: [5, 6] });
  const failing = async () => await Promise.reject(new Error("no answer"));
  expect((await dated({ t: [5, 6] }, failing)).tables).toEqual({ t: [5, 6] });
});

test("a target without versions has none to release", async () => {
  const planned = { migration: aMigration(1, []), tables: { t: [5, 6] } } as unknown as PlannedMigration;
  const target = { versions: undefined } as Target;
  await expect(releaseRestorePoints(planned, target, "_migrations", 1)).resolves.toBeUndefined();
});

test("a kept version is needed while any rollback that follows reinserts rows that were written after it", () => {
  const planned = { tables: { t: [5, 6] } } as unknown as PlannedMigration;
  const followedBy = (since: number) => {
    const putsBack = { actions: [{ action: drop }, { action: { kind: "putBackRows", table: "t", since } }] };
    return isSince(planned, [putsBack, { actions: [{ action: drop }] }] as unknown as readonly PlannedMigration[]);
  };
  expect([followedBy(5), followedBy(4)]).toEqual([true, false]);
});
