import { nameOfCode, type Computation } from "../../actions/model/computation.ts";

/** Why a column can't be filled. What was computed before is kept. */
export class FillFailed extends Error {
  /** How many versions of the table the fill had made. Undefined if that is unknown. */
  merges: number | undefined;
}

/** The next call of the code would exceed a limit of the run. */
export class LimitReached extends FillFailed {}

/** The failure of code, or of what it returned. `problem`: with what follows the name of the code. */
export function codeFailed(code: Computation["with"], problem: string): FillFailed {
  return new FillFailed(`${nameOfCode(code)}${problem}`);
}
