import { createTable, int32, renameColumn, setNullable, utf8, type Step } from "lance-migrate";
import { expect, test } from "vitest";
import { stepHash } from "../../../../src/migrations/checksum.ts";
import {
  checkBegun,
  checkMissing,
  checkUnchanged,
  chosenFiles,
  missingFiles,
  orderPending,
  pendingFiles,
} from "../../../../src/plan/history/pending.ts";
import { aLedger, aMigration } from "../../../support/migrations.ts";

const three: readonly Step[] = [
  createTable("documents", { id: int32(), title: utf8() }),
  renameColumn("documents", "title", "headline"),
  setNullable("documents", "id", false),
];

const files = [aMigration(1, three), aMigration(2, three), aMigration(3, three)];
const none: ReadonlySet<number> = new Set();
const versionsOf = (migrations: readonly { readonly version: number }[]) => migrations.map(({ version }) => version);

test.each([
  { why: "none is applied", state: aLedger(), pending: [1, 2, 3] },
  { why: "the first is applied", state: aLedger(["applied", aMigration(1, three)]), pending: [2, 3] },
  { why: "one in the middle is applied", state: aLedger(["applied", aMigration(2, three)]), pending: [1, 3] },
  { why: "one is done in part", state: aLedger(["failed", aMigration(1, three), 2]), pending: [1, 2, 3] },
  { why: "an unknown one is applied", state: aLedger(["applied", aMigration(9, three)]), pending: [1, 2, 3] },
  { why: "all are applied", state: aLedger(...files.map((one) => ["applied", one] as const)), pending: [] },
])("when $why, $pending are pending", ({ state, pending }) => {
  expect(versionsOf(pendingFiles(files, state))).toEqual(pending);
});

test("without --to all files are chosen, with it those up to there", () => {
  expect(versionsOf(chosenFiles(files, {}))).toEqual([1, 2, 3]);
  expect(versionsOf(chosenFiles(files, { to: 2 }))).toEqual([1, 2]);
});

test.each([
  { to: 7, given: files, known: "they go from 0001_m1 to 0003_m3" },
  { to: 0, given: files, known: "they go from 0001_m1 to 0003_m3" },
  { to: 2, given: [files[0]!, files[2]!], known: "did you mean 0001_m1 or 0003_m3?" },
  { to: 1, given: [], known: "there are none yet" },
])("--to $to is refused where there is no such file, naming those that are there", ({ to, given, known }) => {
  expect(() => chosenFiles(given, { to })).toThrow(
    expect.objectContaining({ code: "ERR_VERSION_UNKNOWN", details: { version: `000${to}`, known } }),
  );
});

test("a pending migration below an applied one is refused, naming both", () => {
  const state = aLedger(["applied", aMigration(1, three)], ["applied", aMigration(3, three)]);
  expect(() => orderPending({ files, state, inDoubt: none, group: none, choice: {} })).toThrow(
    expect.objectContaining({ code: "ERR_OUT_OF_ORDER", details: { file: "0002_m2.ts", last: "0003_m3" } }),
  );
});

test.each([
  { why: "out of order is allowed", state: aLedger(["applied", aMigration(3, three)]), allowed: true, order: [1, 2] },
  {
    why: "the applied one came first",
    state: aLedger(["applied", aMigration(1, three)]),
    allowed: false,
    order: [2, 3],
  },
  { why: "nothing is applied", state: aLedger(), allowed: false, order: [1, 2, 3] },
  {
    why: "one that begun comes first",
    state: aLedger(["failed", aMigration(2, three), 1]),
    allowed: true,
    order: [2, 1, 3],
  },
])("pending migrations run in the order $order when $why", ({ state, allowed, order }) => {
  const pending = orderPending({ files, state, inDoubt: none, group: none, choice: { allowOutOfOrder: allowed } });
  expect(versionsOf(pending)).toEqual(order);
});

test("a pending migration below one in doubt is refused", () => {
  const state = aLedger(["applied", aMigration(1, three)]);
  expect(() => orderPending({ files, state, inDoubt: new Set([3]), group: none, choice: {} })).toThrow(
    expect.objectContaining({ code: "ERR_OUT_OF_ORDER", details: { file: "0002_m2.ts", last: "0003_m3" } }),
  );
});

test.each([
  { what: "one done in part", state: aLedger(["failed", aMigration(3, three), 1]), inDoubt: [], file: "0003_m3.ts" },
  { what: "one in doubt", state: aLedger(), inDoubt: [3], file: "0003_m3.ts" },
  { what: "one in doubt of another release", state: aLedger(), inDoubt: [9], file: undefined },
])("$what that is not chosen must be finished first, allowed out of order or not", ({ state, inDoubt, file }) => {
  for (const allowOutOfOrder of [false, true])
    expect(() =>
      orderPending({ files, state, inDoubt: new Set(inDoubt), group: none, choice: { to: 2, allowOutOfOrder } }),
    ).toThrow(expect.objectContaining({ code: "ERR_BEGUN", details: expect.objectContaining({ file }) }));
});

test.each([
  { what: "applied", state: aLedger(["applied", aMigration(9, three)]), missing: [9] },
  { what: "done in part", state: aLedger(["failed", aMigration(9, three), 1]), missing: [9] },
  { what: "begun without effect", state: aLedger(["failed", aMigration(9, three), 0]), missing: [] },
  { what: "applied and here", state: aLedger(["applied", aMigration(1, three)]), missing: [] },
])("of a migration that is $what, missing are $missing", ({ state, missing }) => {
  expect(versionsOf(missingFiles(files, state))).toEqual(missing);
});

test("a missing file stops a run, naming the migration", () => {
  expect(() => checkMissing(files, aLedger(["applied", aMigration(9, three)]))).toThrow(
    expect.objectContaining({ code: "ERR_MIGRATION_MISSING", details: { version: "0009", name: "m9" } }),
  );
  expect(() => checkMissing(files, aLedger(["applied", aMigration(1, three)]))).not.toThrow();
});

const [create, rename, tighten] = three as [Step, Step, Step];
const other = renameColumn("documents", "title", "name");

test.each<{ what: string; now: readonly Step[]; change: string }>([
  {
    what: "the first step",
    now: [createTable("documents", { id: int32() }), rename, tighten],
    change: "step 1 (createTable) is not the step that ran",
  },
  {
    what: "a step in the middle",
    now: [create, other, tighten],
    change: "step 2 (renameColumn) is not the step that ran",
  },
  {
    what: "an argument alone",
    now: [create, rename, setNullable("documents", "id", true)],
    change: "step 3 (setNullable) is not the step that ran",
  },
  { what: "the order", now: [create, tighten, rename], change: "step 2 (setNullable) is not the step that ran" },
  { what: "a step added at the end", now: [...three, other], change: "step 4 (renameColumn) was added" },
  { what: "the last step removed", now: [create, rename], change: "it has 2 steps instead of 3" },
  {
    what: "a step removed in the middle",
    now: [create, tighten],
    change: "step 2 (setNullable) is not the step that ran",
  },
])("an applied migration with $what changed is refused: $change", ({ now, change }) => {
  expect(() =>
    checkUnchanged([aMigration(1, now)], aLedger(["applied", aMigration(1, three)]), { describes: true }),
  ).toThrow(expect.objectContaining({ code: "ERR_MIGRATION_CHANGED", details: { file: "0001_m1.ts", change } }));
});

test("a file whose text is as it was is not called changed: what it computes is", () => {
  const textHash = "a".repeat(64);
  const ran = { ...aMigration(1, three), textHash };
  for (const [event, when] of [
    ["applied", "it was applied"],
    ["failed", "it had begun"],
  ] as const)
    expect(() =>
      checkUnchanged([{ ...aMigration(1, [other, rename, tighten]), textHash }], aLedger([event, ran, 3]), {
        describes: true,
      }),
    ).toThrow(`0001_m1.ts is as it was when ${when}, but it computes other steps now: step 1`);
});

test.each(["applied", "failed"] as const)(
  "a checksum that was changed in the ledger is not blamed on the file (%s)",
  (event) => {
    const state = aLedger([event, aMigration(1, three), event === "applied" ? 3 : 2]);
    const known = { ...state.migrations.get(1)!, checksum: "f".repeat(64) };
    const changed = { ...state, migrations: new Map([[1, known]]) };
    expect(() => checkUnchanged([aMigration(1, three)], changed, { describes: true })).toThrow(
      expect.objectContaining({
        code: "ERR_LEDGER_CHANGED",
        message: expect.stringMatching(/its record of 0001_m1 lists the steps that 0001_m1\.ts has.*verify --ledger/),
      }),
    );
  },
);

test("migrations that the ledger does not know and those that are as they ran pass", () => {
  expect(() =>
    checkUnchanged(files, aLedger(["applied", aMigration(1, three)], ["failed", aMigration(2, three), 1]), {
      describes: true,
    }),
  ).not.toThrow();
});

test.each<{ what: string; done: number; now: readonly Step[]; step: number }>([
  { what: "its first step", done: 1, now: [createTable("documents", { id: int32() }), rename, tighten], step: 1 },
  { what: "its last step that ran", done: 2, now: [create, other, tighten], step: 2 },
  { what: "a step put before those that ran", done: 2, now: [create, tighten, rename], step: 2 },
  { what: "a step that ran removed from its end", done: 2, now: [create], step: 2 },
  { what: "steps that ran removed before others", done: 2, now: [create, tighten], step: 2 },
  { what: "all steps done and the last removed", done: 3, now: [create, rename], step: 3 },
])("a migration that is done in part is refused with $what changed", ({ done, now, step }) => {
  expect(() =>
    checkUnchanged([aMigration(1, now)], aLedger(["failed", aMigration(1, three), done]), { describes: true }),
  ).toThrow(
    expect.objectContaining({
      code: "ERR_MIGRATION_CHANGED",
      details: { file: "0001_m1.ts", change: `step ${step} has already run`, begun: true },
    }),
  );
});

test("a step between two of its commits that was changed is said to be that, whatever ran before it", () => {
  const state = aLedger(["failed", aMigration(1, three), 1]);
  const midway = { step: stepHash(rename), commit: 1, indexes: {}, metadata: {} };
  const begun = { ...state, migrations: new Map([[1, { ...state.migrations.get(1)!, midway }]]) };
  const check = (now: readonly Step[]) => () => checkUnchanged([aMigration(1, now)], begun, { describes: true });
  expect(check([create, rename, other])).not.toThrow();
  for (const now of [[create, other], [create]])
    expect(check(now)).toThrow(
      expect.objectContaining({
        code: "ERR_MIGRATION_CHANGED",
        message:
          "0001_m1.ts was changed after it had begun: step 2 is between two of its commits, and another step cannot continue it; undo that change; the steps after it may be changed",
      }),
    );
});

test.each([
  {
    what: "half-done",
    state: aLedger(["failed", aMigration(9, three), 1]),
    words: "0009_m9 was begun but not finished",
  },
  { what: "in doubt", state: { ...aLedger(), inDoubt: new Set([9]) }, words: "0009 was begun but not finished" },
  { what: "half-done, its file here", state: aLedger(["failed", aMigration(3, three), 1]), words: undefined },
  { what: "failed with nothing done", state: aLedger(["failed", aMigration(9, three), 0]), words: undefined },
  { what: "applied", state: aLedger(["applied", aMigration(9, three)]), words: undefined },
])("what another release has left $what is not passed over", ({ state, words }) => {
  const check = () => checkBegun(files, state);
  if (words === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code: "ERR_BEGUN", message: expect.stringContaining(words) }));
});

test("where migrations are read from a bundle, one that it lacks is missing in the bundle", () => {
  const bundled = files.map((one) => ({
    ...one,
    file: `${one.file} in all.json`,
    bundle: "all.json",
  }));
  const words =
    "0009_m9 was begun but not finished, and all.json does not contain it; make a new bundle with migrate build where its file is, or deploy a release that has it; if the file is lost, see migrate resolve --help";
  const state = aLedger(["failed", aMigration(9, three), 1]);
  expect(() => checkBegun(bundled, state)).toThrow(words);
  expect(() => checkMissing(bundled, state)).toThrow("but all.json does not contain it; make a new bundle");
  expect(() => orderPending({ files: bundled, state, inDoubt: new Set([9]), group: none, choice: { to: 2 } })).toThrow(
    "0009 was begun but not finished, and all.json does not contain it",
  );
});

test.each<{ what: string; done: number; now: readonly Step[] }>([
  { what: "the step that failed changed", done: 1, now: [create, other, tighten] },
  { what: "the steps after it changed", done: 1, now: [create, rename, setNullable("documents", "headline", false)] },
  { what: "the steps that did not run removed", done: 1, now: [create] },
  { what: "steps added at the end", done: 2, now: [...three, setNullable("documents", "headline", false)] },
  { what: "everything changed where nothing ran", done: 0, now: [other] },
])("a migration that is done in part may have $what", ({ done, now }) => {
  expect(() =>
    checkUnchanged([aMigration(1, now)], aLedger(["failed", aMigration(1, three), done]), { describes: true }),
  ).not.toThrow();
});

test("a migration that was renumbered behind another one holds it up no more than under its old number", () => {
  const renumbered = { ...aMigration(3, three), was: [{ version: 2, name: "m3" }] };
  const state = aLedger(["applied", aMigration(1, three)], ["applied", aMigration(3, three)]);
  const pending = (last: object) =>
    orderPending({
      files: [aMigration(1, three), aMigration(2, three), last as never],
      state,
      inDoubt: none,
      group: none,
      choice: {},
    });
  expect(versionsOf(pending(renumbered))).toEqual([2]);
  expect(() => pending(aMigration(3, three))).toThrow(expect.objectContaining({ code: "ERR_OUT_OF_ORDER" }));
});
