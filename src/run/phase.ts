/** What computing the values of a column goes through, for those who watch. */
import type { Lease } from "../ledger/lease/lease.ts";
import { byPlace, type LedgerRecord } from "../ledger/state/record.ts";

/** Of a column that is in use, or of which most values are computed, the rows that were written since are caught up with. */
export const phases = [
  "computing",
  "loading",
  "merging",
  "catching up",
  "optimizing",
  "indexing",
  "measuring recall",
  "evaluating",
] as const;

export type Phase = (typeof phases)[number];

export interface Phases {
  /** `total`: how many rows it is about, if that is known. Does nothing if it is the present phase. */
  enter(phase: Phase, total?: number): Promise<void>;
  /** How many rows the phase is done with. */
  reached(rows: number): void;
}

/** Records when a phase begins, for those who look at the status. A run that may not write any more notices that elsewhere. */
export function recordPhases(lease: Pick<Lease, "state">): (phase: Phase) => Promise<void> {
  return async (phase) => await lease.state(prefix + phase).catch(() => {});
}

/**
 * The phase of the run that has written to a ledger last, unless it has recorded something of a migration since; undefined
 * also if it is one of another release.
 */
export function phaseNow(records: readonly LedgerRecord[]): Phase | undefined {
  const sorted = records.toSorted(byPlace);
  const epoch = sorted.at(-1)?.epoch;
  const last = sorted.findLast((one) => one.version !== undefined || one.detail?.startsWith(prefix) === true);
  return last?.epoch === epoch ? phases.find((phase) => last?.detail === prefix + phase) : undefined;
}

const prefix = "phase: ";
