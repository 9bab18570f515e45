/** What computing the values of a column goes through, for those who watch. */
import type { LedgerEntry, LedgerRecord } from "../ledger/state/record.ts";

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

/** The record of a process that a phase of its begins. Only those who look at the status need it. */
export function phaseEntry(phase: Phase): LedgerEntry {
  return { event: "renewed", detail: prefix + phase };
}

/** The phase that a record states; undefined also if it is one of another release. */
export function phaseOf({ detail = "" }: LedgerRecord): Phase | undefined {
  return phases.find((phase) => detail === prefix + phase);
}

const prefix = "phase: ";
