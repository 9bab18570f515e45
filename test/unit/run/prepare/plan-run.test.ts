import { expect, test } from "vitest";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { Journal } from "../../../../src/ledger/journal/journal.ts";
import type { LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { planUnlessMoved, type Planned, type PlanningInput } from "../../../../src/run/prepare/plan-run.ts";

const who = { by: "ann", tool: "t", at: 1, applied: "", previous: "" };
const taken: LedgerRecord = { ...who, run: "ours", epoch: 1, number: 0, event: "taken" };

/** A plan that rows block, during which this record was written. */
function planned(newest: LedgerRecord, run: string, plan: () => Promise<Planned>) {
  const journal = { head: async () => newest, read: async () => [taken, newest] } as unknown as Journal;
  const input = { state: foldLedger([taken]), run } as unknown as PlanningInput;
  return planUnlessMoved(journal, input, plan);
}

const blocked = { plan: { blocked: { problems: [] } } } as unknown as Planned;
const isBlocked = async () => blocked;
const hasDrift = async () => {
  throw new MigrateError("ERR_DRIFT", { table: "t", differences: [], hint: "" });
};

const renewed: LedgerRecord = { ...taken, number: 1, event: "renewed" };

test("a run that renews its own lease while it plans has moved nothing", async () => {
  expect(await planned(renewed, "ours", isBlocked)).toBe(blocked);
  await expect(planned(renewed, "ours", hasDrift)).rejects.toMatchObject({ code: "ERR_DRIFT" });
});

test("what another run writes meanwhile makes the plan void", async () => {
  const other: LedgerRecord = { ...taken, run: "theirs", epoch: 2 };
  expect(await planned(renewed, "another", isBlocked)).toBeUndefined();
  expect(await planned(other, "ours", isBlocked)).toBeUndefined();
  expect(await planned(other, "ours", hasDrift)).toBeUndefined();
});
