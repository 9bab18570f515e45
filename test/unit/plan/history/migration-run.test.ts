import { dropColumn, int32, utf8 } from "lance-migrate";
import { expect, test } from "vitest";
import type { LedgerMigration } from "../../../../src/ledger/state/fold.ts";
import { checksumOf } from "../../../../src/migrations/checksum.ts";
import { reversalOf } from "../../../../src/plan/history/migration-run.ts";
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

/** A rollback that puts rows back and has stopped after so many of its actions. */
function stoppedAfter(step: number): LedgerMigration {
  const { actions } = rollbackOf(migration, Infinity, before, able, { able: true, tables, putsBack: true });
  const units = actions.map(({ action }) => action);
  const reversal = { step, total: units.length, steps: [], attempt: 1, checksum: checksumOf(units.slice(0, step)) };
  return { version: 2, status: "applied", step: 2, total: 2, tables, reversal } as unknown as LedgerMigration;
}

const kindsAfter = (step: number, putsBack: boolean) =>
  reversalOf(migration, stoppedAfter(step), before, able, putsBack).actions.map(
    ({ action }) => `${action.kind} ${action.table}`,
  );

const all = ["restoreTable u", "putBackRows u", "restoreTable t", "putBackRows t"];

test.each([0, 1, 2, 3, 4])("a rollback that stopped after %i actions resumes as it began", (step) => {
  expect(kindsAfter(step, true)).toEqual(all);
});

test.each([
  { step: 0, left: ["restoreTable u", "restoreTable t"] },
  { step: 1, left: ["restoreTable u", "restoreTable t"] },
  { step: 2, left: ["restoreTable u", "putBackRows u", "restoreTable t"] },
  { step: 3, left: ["restoreTable u", "putBackRows u", "restoreTable t"] },
  { step: 4, left: all },
])("a run that accepts the loss of rows puts none back after the $step actions that are done", ({ step, left }) => {
  expect(kindsAfter(step, false)).toEqual(left);
});
