import { expect, test } from "vitest";
import { foldLedger } from "../../../../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../../../../src/ledger/state/ledger-state.ts";
import type { LedgerEntry, LedgerRecord } from "../../../../../src/ledger/state/record.ts";
import { stepHash } from "../../../../../src/migrations/checksum.ts";
import { checkUnchanged } from "../../../../../src/plan/history/pending.ts";
import { chosenPlace } from "../../../../../src/features/repair/repair/chosen-position.ts";
import { historyLine } from "../../../../../src/plan/history/timeline.ts";
import { entriesFromTables } from "../../../../../src/features/repair/repair/rebuild-entries.ts";
import { ledgerColumns } from "../../../../../src/ledger/journal/rows-journal.ts";
import { entriesFromLedger } from "../../../../../src/plan/history/record-facts.ts";
import { aMigration } from "../../../../support/migrations.ts";

const describing = { describes: true, actions: {} };
const who = { by: "ann", run: "r", tool: "t", at: 1, applied: "", previous: "" };

const rename = (path: string, name: string) => ({ kind: "renameColumn", table: "t", path, name });
const columns = ["a", "b"].map((name) => ({ name, type: { kind: "int32" }, nullable: true }));
const migrations = [
  aMigration(1, [{ kind: "createTable", table: "t", columns }]),
  aMigration(2, [rename("a", "c"), rename("b", "d"), rename("c", "e")]),
];

/** The ledger once these were written in the epoch after those. */
function written(entries: readonly LedgerEntry[], before: readonly LedgerRecord[] = []): LedgerState {
  const epoch = (before.at(-1)?.epoch ?? 0) + 1;
  const taken: LedgerRecord = { ...who, epoch, number: 0, event: "taken" };
  return foldLedger([
    ...before,
    taken,
    ...entries.map((entry, index): LedgerRecord => ({ ...who, ...entry, epoch, number: index + 1 })),
  ]);
}

const summary = ({ migrations: all }: LedgerState) =>
  [...all.values()].map(({ version, status, step, total }) => `${version} ${status} ${step}/${total}`);

test.each([
  { choice: "start", says: [] },
  { choice: "1", says: ["1 applied 1/1"] },
  { choice: "2.1", says: ["1 applied 1/1", "2 partial 1/3"] },
  { choice: "2", says: ["1 applied 1/1", "2 applied 3/3"] },
])("a ledger that is rebuilt at $choice says just that, and its migrations are unchanged", ({ choice, says }) => {
  const row = historyLine(migrations, foldLedger([]), describing);
  const place = chosenPlace(row, choice)!;
  const other = { version: 7, name: "m7", step: 1, total: 1, textHash: "x" };
  const before = [
    { ...who, epoch: 1, number: 0, event: "taken" as const, next: 9 },
    { ...who, epoch: 1, number: 1, event: "applied" as const, ...other },
  ];
  const state = written(entriesFromTables(row, place, foldLedger(before), true), before);
  expect(summary(state)).toEqual(says);
  expect(state.inDoubt).toEqual(new Set());
  checkUnchanged(migrations, state, describing);
});

test("what the ledger knew of a migration it goes on to say, and late calls are looked at", () => {
  const row = historyLine(migrations, foldLedger([]), describing);
  const facts = {
    version: 1,
    name: "m1",
    step: 1,
    total: 1,
    attempt: 3,
    duration: 50,
    tables: { t: [null, 1] as const },
  };
  const before: readonly LedgerRecord[] = [
    { ...who, epoch: 1, number: 0, event: "taken" },
    { ...who, epoch: 1, number: 1, event: "applied", ...facts },
    { ...who, epoch: 1, number: 2, event: "late", version: 2, name: "m2", step: 1, total: 3 },
  ];
  const state = written(entriesFromTables(row, chosenPlace(row, "1")!, foldLedger(before), true), before);
  expect(state.migrations.get(1)).toMatchObject({ attempt: 3, duration: 50, tables: { t: [null, 1] } });
  expect([state.late, state.inDoubt]).toEqual([[], new Set()]);
});

test("that an action has begun it goes on to say, unless somebody says that it has not", () => {
  const midway = { step: stepHash(migrations[1]!.steps[0]), commit: 0, indexes: {}, metadata: {} };
  const facts = { version: 2, name: "m2", step: 0, total: 3 };
  const before: readonly LedgerRecord[] = [
    { ...who, epoch: 1, number: 0, event: "taken", next: 2 },
    { ...who, epoch: 1, number: 1, event: "advanced", ...facts, next: 2, midway },
  ];
  const row = historyLine(migrations, foldLedger(before), describing);
  const place = chosenPlace(row, "1")!;
  const midwayAfter = (isMidway: boolean, isChosen: boolean) =>
    written(entriesFromTables(row, { ...place, isMidway }, foldLedger(before), isChosen), before).migrations.get(2)
      ?.midway;
  expect(midwayAfter(false, false)).toEqual(midway);
  expect(midwayAfter(true, true)).toEqual(midway);
  expect(midwayAfter(false, true)).toBeUndefined();
});

test("a ledger that is rebuilt from itself says what it said, in the order in which it ran", () => {
  const facts = (version: number, step: number) => ({
    version,
    name: `m${version}`,
    step,
    total: 3,
    attempt: 2,
    duration: 5,
    tables: {},
    checksum: `${version}`,
    steps: [],
    textHash: "t",
  });
  const before: readonly LedgerRecord[] = [
    { ...who, epoch: 1, number: 0, event: "taken" },
    { ...who, epoch: 1, number: 1, event: "applied", ...facts(2, 3) },
    { ...who, epoch: 1, number: 2, event: "applied", ...facts(1, 3) },
    { ...who, epoch: 1, number: 3, event: "failed", ...facts(3, 1), detail: "no space" },
  ];
  const state = foldLedger(before);
  const entries = entriesFromLedger(state);
  expect(entries.map(({ event, version }) => [event, version])).toEqual([
    ["applied", 2],
    ["applied", 1],
    ["interrupted", 3],
    ["rebuilt", undefined],
  ]);
  const again = written(entries, before);
  const said = ({ migrations: all }: LedgerState) =>
    [...all.values()].map((one) => ({ ...one, order: undefined, detail: undefined }));
  expect(said(again)).toEqual(said(state));
});

test("a ledger that is rebuilt from itself stores only what a record has a column for", () => {
  const midway = { step: "hash", commit: 1, indexes: {}, metadata: {} };
  const facts = { version: 1, name: "m1", step: 0, total: 3 };
  const before: readonly LedgerRecord[] = [
    { ...who, epoch: 1, number: 0, event: "taken" },
    { ...who, epoch: 1, number: 1, event: "applied", ...facts, step: 3 },
    { ...who, epoch: 2, number: 0, event: "taken" },
    { ...who, epoch: 2, number: 1, event: "reverting", ...facts, midway },
    { ...who, epoch: 2, number: 2, event: "failed", ...facts, next: 1, detail: "no space" },
  ];
  const columns = new Set(["textHash", ...ledgerColumns.map(({ name }) => name)]);
  const entries = entriesFromLedger(foldLedger(before));
  expect(entries).toContainEqual(expect.objectContaining({ event: "reverting", midway, detail: "no space" }));
  expect(entries.flatMap((entry) => Object.keys(entry).filter((name) => !columns.has(name)))).toEqual([]);
});
