/** Audits the ledger. Changes nothing. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { auditLedger, type LedgerFinding } from "../../ledger/audit/audit.ts";
import { agreesWithNewest } from "../../ledger/audit/audit-applied.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerRecord } from "../../ledger/state/record.ts";
import type { RunContext } from "../run-context.ts";
import { throwIfInterrupted } from "./wait-for-lease.ts";

type Auditing = Pick<RunContext, "journal" | "signal">;

/**
 * All records and the findings of their audit. A read may miss a record that another run adds meanwhile, so findings
 * count only if two reads in a row yield the same ones.
 */
export async function auditConsistently({
  journal,
  signal,
}: Auditing): Promise<{ readonly records: readonly LedgerRecord[]; readonly findings: readonly LedgerFinding[] }> {
  let before: string | undefined;
  for (;;) {
    const records = await journal.read();
    const findings = auditLedger(records, journal.hashOf);
    const words = findings.map(({ sentence }) => sentence).join("\n");
    if (findings.length === 0 || words === before) return { records, findings };
    throwIfInterrupted(signal);
    before = words;
  }
}

/** Throws ERR_LEDGER_CHANGED if no run may plan by this ledger. */
export async function checkConsistent(auditing: Auditing, state: LedgerState): Promise<void> {
  const problem = await contradiction(auditing, state);
  if (problem !== undefined) throw problem;
}

/**
 * Why a run must not plan by this ledger: its newest record and all its records together disagree on which migrations
 * are applied. Undefined if they agree, or if the audit finds an innocent cause.
 */
export async function contradiction(auditing: Auditing, state: LedgerState): Promise<MigrateError | undefined> {
  if (agreesWithNewest(state)) return undefined;
  // A late record is not an error, nor is an interrupted write of several markers: neither loses a record.
  const { findings } = await auditConsistently(auditing);
  if (findings.every(({ known, kind }) => known || kind === "applied")) return undefined;
  const problem = "its newest record states that other migrations are applied than all its records together";
  return new MigrateError("ERR_LEDGER_CHANGED", { problem });
}
