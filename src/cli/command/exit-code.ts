/** Exit codes, as docs/cli.md documents them. */
import { isMigrateError, type Outcome } from "../../errors/migrate-error.ts";

const codes: Readonly<Record<Outcome, number>> = {
  failed: 1,
  usage: 2,
  refused: 4,
  locked: 5,
  unreachable: 6,
  interrupted: 130,
};

export const done = 0;
export const somethingPending = 3;
/** A check found something wrong, and nothing was changed. */
export const amiss = codes.refused;

export function exitCodeOf(error: unknown): number {
  return isMigrateError(error) ? codes[error.outcome] : 1;
}
