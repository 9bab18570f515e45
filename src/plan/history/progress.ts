/** How far a migration of a plan has got. Pure. */
import type { PartialAction } from "../../ledger/state/record.ts";

/** In the direction of the plan: what the ledger records of it, and what the tables show beyond that. */
export interface PlannedProgress {
  /** How many of its actions are done. */
  readonly done: number;
  /** What the ledger records of the next action, if that takes several commits and has begun. */
  readonly midway: PartialAction | undefined;
  /** Whether its next action may have run without a record. */
  readonly inDoubt: boolean;
}

/** Whether a part of it is done. */
export function isPartlyDone({ done, midway }: Pick<PlannedProgress, "done" | "midway">): boolean {
  return done > 0 || midway !== undefined;
}

/** Whether a part of it is done, or may be. */
export function mayHaveBegun(progress: PlannedProgress): boolean {
  return isPartlyDone(progress) || progress.inDoubt;
}
