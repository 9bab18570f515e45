import { createTable, dropTable, int32, type Step } from "lance-migrate";
import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { recordHash, type LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { stepHash } from "../../../../src/migrations/checksum.ts";
import type { PlanDocument } from "../../../../src/plan/document/plan-document.ts";
import {
  asStale,
  checkFiles,
  checkPlace,
  checkPlan,
  headOf,
  isCarriedOut,
  parseSavedPlan,
  sealed,
  useOf,
  type SavedPlan,
} from "../../../../src/plan/document/saved-plan.ts";
import { checkAccepted, checkTables } from "../../../../src/plan/document/saved-tables.ts";
import { aMigration } from "../../../simulate/history.ts";

const [a, b, c, d] = ["a", "b", "c", "d"].map((table) => createTable(table, { id: int32() })) as [
  Step,
  Step,
  Step,
  Step,
];

/** Checks a plan that was saved with the first steps against a file that has the second ones. */
function check(planned: readonly Step[], now: readonly Step[]): void {
  const { version, file, checksum, steps } = aMigration(1, planned);
  const saved = { plan: { pending: [{ version, file, checksum, steps: steps.map(stepHash) }] } };
  checkFiles(saved as unknown as SavedPlan, [aMigration(1, now)]);
}

test.each<[string, readonly Step[], readonly Step[], string]>([
  [
    "the first of two changed steps is named",
    [a, b, c],
    [a, c, d],
    "step 2 (createTable) is not the step that was planned",
  ],
  ["an added step is named", [a], [a, b, dropTable("b")], "step 2 (createTable) was added"],
  ["removed steps are counted", [a, b], [a], "it has 1 step instead of 2"],
])("a saved plan is refused if its file was edited: %s", (_, planned, now, words) => {
  expect(() => check(planned, now)).toThrow(words);
});

test("a saved plan is accepted if its file is unchanged", () => {
  expect(() => check([a, b], [a, b])).not.toThrow();
});

type DocumentMigration = NonNullable<PlanDocument["pending"]>[number];

const create: Action = { kind: "createTable", table: "t", columns: [] };
const drop: Action = { kind: "dropTable", table: "t" };

/** Of a plan: a migration that consists of these actions. An array stands for one that takes several commits. */
function planned(version: number, ...actions: readonly (Action | readonly Action[])[]): DocumentMigration {
  const all = actions.flatMap((action, index) => {
    const commits = [action].flat() as readonly Action[];
    const text = "text";
    const one = { step: index + 1, kind: "execute", text, risks: [], action: { ...commits[0]! } };
    return [{ ...one, ...(commits.length > 1 && { commits: commits.map((each) => ({ text, action: { ...each } })) }) }];
  });
  const file = `000${version}_m.ts`;
  return { version, name: "m", file, checksum: "", steps: [], done: 0, total: all.length, actions: all };
}

function aDocument(...pending: readonly DocumentMigration[]): PlanDocument {
  return { target: "local", direction: "up", verdict: "ready", pending: [...pending] };
}

function aPlan(content: Partial<SavedPlan> = {}): SavedPlan {
  const ledger = { table: "_migrations", head: null };
  return sealed({
    at: "2026-01-01T00:00:00.000Z",
    tool: "test",
    choice: {},
    place: "here",
    ledger,
    tables: { t: 3 },
    times: { t: 30 },
    plan: aDocument(planned(1, create)),
    ...content,
  });
}

/** A rollback that may lose what was written. */
const losing: Partial<SavedPlan> = {
  choice: { accept: ["lossy"] },
  plan: { ...aDocument(planned(1, create)), direction: "down" },
};

test("a saved plan is read as it was saved", () => {
  const plan = aPlan();
  expect(parseSavedPlan(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
});

test.each<[what: string, value: (plan: SavedPlan) => unknown, problem: string]>([
  ["that is no object", () => "text", "is no saved plan"],
  ["that is null", () => null, "is no saved plan"],
  ["of another kind", () => ({ id: "1" }), "is no saved plan"],
  ["that was edited", (plan) => ({ ...plan, place: "there" }), "was changed after it was made"],
  ["of another format", () => aPlan({ other: 1 } as never), "was made by another release"],
])("a file %s is no plan that can be run", (_, value, problem) => {
  expect(() => parseSavedPlan(value(aPlan()), "plan.json")).toThrow(
    expect.objectContaining({ code: "ERR_PLAN_INVALID", message: expect.stringContaining(problem) }),
  );
});

test("a saved plan is refused for a target of another name and for another place", () => {
  const target = { name: "local", place: "here" };
  expect(() => checkPlace(aPlan(), target)).not.toThrow();
  expect(() => checkPlace(aPlan(), { ...target, name: "prod" })).toThrow("it was made for target local, not for prod");
  expect(() => checkPlace(aPlan(), { ...target, place: "there" })).toThrow("and that is there now");
});

const who = { at: 0, by: "ann", run: "run", tool: "test", applied: "", previous: "" };
const stepsHash = "c".repeat(64);
const about = { version: 1, name: "m", step: 1, total: 1, checksum: stepsHash };
const [taken, renewed, released, later, applied, undone]: readonly LedgerRecord[] = [
  { ...who, epoch: 1, number: 0, event: "taken" },
  { ...who, epoch: 1, number: 1, event: "renewed" },
  { ...who, epoch: 1, number: 2, event: "released" },
  { ...who, epoch: 2, number: 0, event: "taken" },
  { ...who, epoch: 1, number: 1, event: "applied", ...about },
  { ...who, epoch: 2, number: 1, event: "reverted", ...about },
] as const;

function isDoneIn(plan: SavedPlan, records: readonly LedgerRecord[], ledger = "_migrations"): boolean {
  return isCarriedOut(plan, ledger, { records, state: foldLedger(records) }, recordHash);
}

test.each<[what: string, then: readonly LedgerRecord[], now: readonly LedgerRecord[], words: string | undefined]>([
  ["as it was", [taken!, released!], [released!, taken!], undefined],
  ["still empty", [], [], undefined],
  ["no longer empty", [], [applied!], "record 1.1 is applied, by ann"],
  ["empty now", [taken!], [], "the ledger is empty"],
  ["longer now", [taken!, released!], [taken!, released!, later!, undone!], "record 2.1 is reverted, by ann"],
  ["longer now, by runs that changed nothing", [taken!, released!], [taken!, released!, later!], undefined],
  ["with a late record of an older epoch", [taken!, later!], [taken!, renewed!, later!], "record 2.0 is taken, by ann"],
  ["with another newest record", [taken!], [{ ...taken!, by: "bob" }], "record 1.0 is taken, by bob"],
])("a saved plan and a ledger that is %s", (_, then, now, words) => {
  const plan = aPlan({ ledger: { table: "_migrations", head: headOf(then, recordHash) } });
  const check = () => isDoneIn(plan, now);
  if (words === undefined) expect(check()).toBe(false);
  else expect(check).toThrow(words);
});

test("a saved plan that was used is done, continues, or is refused, as the ledger states", () => {
  const plan = aPlan({ plan: aDocument({ ...planned(1, create), checksum: stepsHash }) });
  const used = { ...renewed!, ...useOf(plan, 1) } as LedgerRecord;
  const records = [taken!, used];
  expect(isDoneIn(plan, records)).toBe(false);
  expect(isDoneIn(plan, [...records, { ...applied!, number: 2 }])).toBe(true);
  expect(isDoneIn(plan, [...records, { ...applied!, number: 2, version: 2 }])).toBe(false);
  expect(() =>
    isDoneIn(plan, [...records, { ...applied!, number: 2, checksum: "other" }, { ...undone!, run: "b" }]),
  ).toThrow(
    "it was used already, in epoch 1 of the ledger, by ann, and another run has written to the ledger since: record 2.1",
  );
  expect(() => isDoneIn(plan, [], "other")).toThrow("and that is other now");
});

test("a saved plan is refused if its file is gone", () => {
  expect(() => checkFiles(aPlan(), [])).toThrow("0001_m.ts is not there any more");
});

const other = "0001_m.ts, step 1 would be applied otherwise than planned";

test.each<
  [what: string, then: readonly DocumentMigration[], now: readonly DocumentMigration[], words: string | undefined]
>([
  ["is the same, with other texts", [planned(1, create)], [{ ...planned(1, create), name: "n" }], undefined],
  ["has another action", [planned(1, create)], [planned(1, drop)], other],
  ["has other commits", [planned(1, [create, drop])], [planned(1, [create, create])], other],
  ["has one action less", [planned(1, create, drop)], [planned(1, create)], "0001_m.ts, step 2 would"],
  ["has one action more", [planned(1, create)], [planned(1, create, drop)], "0001_m.ts would be applied otherwise"],
  ["has one migration more", [planned(1, create)], [planned(1, create), planned(2, drop)], "0002_m.ts is not in it"],
  ["has one migration less", [planned(1, create), planned(2)], [planned(1, create)], "0002_m.ts would be applied"],
])("a saved plan and a plan of now that %s", (_, then, now, words) => {
  const check = () => checkPlan(aPlan({ plan: aDocument(...then) }), aDocument(...now), foldLedger([]));
  if (words === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(words);
});

const now = { newest: 5, at: 30, listsVersions: true };

test.each<[what: string, table: Partial<typeof now>, content: Partial<SavedPlan>, words: string | undefined]>([
  ["was written to", {}, {}, undefined],
  ["was written to, and whose rows are lost", {}, losing, "it is at version 5, and was at 3"],
  ["is as it was, and whose rows are lost", { newest: 3 }, losing, undefined],
  ["has another time", { at: 31 }, {}, "was dropped and recreated"],
  ["has fewer versions", { newest: 2 }, {}, "was dropped and recreated"],
  ["does not list the version", { at: undefined as never }, {}, "version 3 of table t was cleaned up"],
  ["lists no versions", { at: undefined as never, listsVersions: false }, {}, undefined],
  ["was saved without times", {}, { times: undefined }, "it does not state when version 3 of table t was made"],
  ["was not there", { newest: 1 }, { ...losing, tables: { t: null } }, undefined],
])("a saved plan and a table that %s", (_, table, content, words) => {
  const check = () => checkTables(aPlan(content), new Map([["t", { ...now, ...table }]]), []);
  if (words === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(words);
});

test("drift makes a saved plan stale, and other errors stay what they are", () => {
  const drift = new MigrateError("ERR_DRIFT", { table: "t", differences: ["column a is gone"], hint: "" });
  expect(asStale(aPlan(), drift)).toMatchObject({
    code: "ERR_PLAN_STALE",
    message: expect.stringContaining("a is gone"),
  });
  const error = new MigrateError("ERR_USAGE", { problem: "no" });
  expect(asStale(aPlan(), error)).toBe(error);
});

const restore = (after: number): Action => {
  const as = { columns: [] };
  return { kind: "restoreTable", table: "t", version: 2, after, as, isSilent: false };
};

test("a version from which a table is restored may be newer, unless the loss of rows was accepted", () => {
  const check = (choice: SavedPlan["choice"]) => () =>
    checkPlan(
      aPlan({ choice, plan: aDocument(planned(1, restore(3))) }),
      aDocument(planned(1, restore(4))),
      foldLedger([]),
    );
  for (const choice of [{}, { reinsert: true }]) expect(check(choice)).not.toThrow();
  expect(check({ accept: ["lossy"] })).toThrow(other);
});

const putBack = (rows: number, without = "") => `${rows} rows of t were written since, which are reinserted${without}`;
const lost = (rows: number) => `${rows} rows of t were written since, which restoring version 2 would lose`;

test.each<[choice: SavedPlan["choice"], stated: readonly string[], now: readonly string[], isStated: boolean]>([
  [{ reinsert: true }, [], [putBack(2)], true],
  [{ reinsert: true }, [], [putBack(2, " with null in a")], true],
  [{ reinsert: true }, [], [putBack(2, " without what they have in a")], false],
  [
    { reinsert: true },
    [putBack(2, " without what they have in a")],
    [putBack(3, " without what they have in a")],
    true,
  ],
  [
    { reinsert: true },
    [putBack(2, " without what they have in a")],
    [putBack(2, " without what they have in b")],
    false,
  ],
  [{ accept: ["lossy"] }, [lost(2)], [lost(2)], true],
  [{ accept: ["lossy"] }, [lost(2)], [lost(3)], false],
])("with %j, a plan that states %j and what is lost now, %j", (choice, stated, lost, isStated) => {
  const saved = aPlan({ choice, plan: { ...aDocument(planned(1, restore(3))), accepted: [...stated] } });
  const check = () => checkAccepted(saved, lost);
  if (isStated) expect(check).not.toThrow();
  else expect(check).toThrow("it does not state this: ");
});
