import { dropColumn, int32, utf8 } from "lance-migrate";
import { expect, test } from "vitest";
import { checksumOf, stepHash } from "../../../../src/migrations/checksum.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { LedgerMigration } from "../../../../src/ledger/state/fold-migration.ts";
import { downRun, reversalOf } from "../../../../src/plan/history/migration-run.ts";
import { rollbackOf } from "../../../../src/plan/rollback/rollback.ts";
import { columnsOf } from "../../../../src/schema/declare/type-builders.ts";
import { aMigration } from "../../../simulate/history.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";

const able = abilitiesOf("namespace");
const table = { columns: columnsOf({ id: int32(), a: utf8() }) };
const before = new Map([
  ["t", table],
  ["u", table],
]);
const migration = aMigration(2, [dropColumn("t", "a"), dropColumn("u", "a")]);
const tables = { t: [5, 6], u: [3, 4] } as const;

const wholeRollback = rollbackOf(migration, Infinity, before, able, { able: true, tables, reinserts: true });

/** A rollback that has stopped after some of its actions, by their positions. */
function stoppedAfter(done: readonly number[], total = 4, midway?: number): LedgerMigration {
  const units = wholeRollback.actions.map(({ action }) => action);
  const reversal = {
    step: done.length,
    total,
    checksum: checksumOf(done.map((index) => units[index])),
    ...(midway !== undefined && { midway: { step: stepHash(units[midway]) } }),
  };
  return { version: 2, status: "applied", step: 2, total: 2, tables, reversal } as unknown as LedgerMigration;
}

const resumed = (putsBack: boolean, done: readonly number[], total?: number, midway?: number) =>
  reversalOf(migration, stoppedAfter(done, total, midway), before, able, putsBack).actions.map(
    ({ action }) => `${action.kind} ${action.table}`,
  );

const all = ["restoreTable u", "putBackRows u", "restoreTable t", "putBackRows t"];
const without = (...left: readonly number[]) => all.filter((_, index) => !left.includes(index));

test.each([[[]], [[0]], [[0, 1]], [[0, 1, 2]], [[0, 1, 2, 3]]])(
  "a rollback that stopped after the actions %j resumes as it began",
  (done) => {
    expect(resumed(true, done)).toEqual(all);
  },
);

test.each([
  { done: [], left: without(1, 3) },
  { done: [0], left: without(1, 3) },
  { done: [0, 1], left: without(3) },
  { done: [0, 1, 2], left: without(3) },
  { done: [0, 1, 2, 3], left: all },
  { done: [0, 2], left: without(1, 3) },
])("a run that accepts the loss of rows reinserts none after the actions $done", ({ done, left }) => {
  expect(resumed(false, done)).toEqual(left);
});

test.each([
  { done: [], total: 2, left: all },
  { done: [0], total: 2, left: without(1) },
  { done: [0, 2], total: 2, left: without(1, 3) },
  { done: [0, 2], total: 3, left: without(1) },
  { done: [0, 1, 2], total: 3, left: without(3) },
])(
  "a run that accepts no loss reinserts what it restores over itself, after $done of $total",
  ({ done, total, left }) => {
    expect(resumed(true, done, total)).toEqual(left);
  },
);

test("a restored table that has begun is resumed where its rows were given up before", () => {
  expect(resumed(true, [0], 2, 2)).toEqual(without(1));
});

test("actions of another release can't be resumed", () => {
  const known = stoppedAfter([0, 1]);
  const other = { ...known, reversal: { ...known.reversal!, checksum: "another" } };
  expect(() => reversalOf(migration, other, before, able)).toThrow(
    expect.objectContaining({ code: "ERR_ROLLBACK_CHANGED" }),
  );
});

test("a rollback reinserts rows unless their loss is accepted", () => {
  const applied = { version: 2, status: "applied", step: 2, total: 2, tables } as unknown as LedgerMigration;
  const state = { ...foldLedger([]), migrations: new Map([[2, applied]]) };
  const kinds = downRun(migration, before, state, able)().actions.map(({ action }) => action.kind);
  expect(kinds).toContain("putBackRows");
});
