/** The ledger and what is wrong with it. Changes nothing. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { auditLedger, type LedgerFinding } from "../../ledger/audit/audit.ts";
import { agreesWithNewest } from "../../ledger/audit/audit-applied.ts";
import type { LedgerState } from "../../ledger/state/fold.ts";
import type { Journal } from "../../ledger/journal/journal.ts";
import type { LedgerRecord } from "../../ledger/state/record.ts";

/** A list that is read while somebody adds to it may miss a record, so that what looks wrong is read again. */
export async function audited(
  journal: Journal,
): Promise<{ readonly records: readonly LedgerRecord[]; readonly findings: readonly LedgerFinding[] }> {
  let before: string | undefined;
  for (;;) {
    const records = await journal.read();
    const findings = auditLedger(records, journal.hashOf);
    const words = findings.map(({ sentence }) => sentence).join("\n");
    if (findings.length === 0 || words === before) return { records, findings };
    before = words;
  }
}

/** Why a ledger is not to be planned by: its records together say something else than the newest one. */
export async function contradiction(journal: Journal, state: LedgerState): Promise<MigrateError | undefined> {
  if (agreesWithNewest(state)) return undefined;
  // A record that came late is no fault, nor is a write of several markers that was cut off: no record is gone by that.
  const { findings } = await audited(journal);
  if (findings.every(({ known, kind }) => known || kind === "applied")) return undefined;
  const problem = "its newest record says that other migrations are applied than all its records together";
  return new MigrateError("ERR_LEDGER_CHANGED", { problem });
}
