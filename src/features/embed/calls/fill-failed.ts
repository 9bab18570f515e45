import { nameOfCode, type Computation } from "../../../actions/model/computation.ts";
import type { CallOutcome } from "../../../targets/contract/target.ts";
import { ActionFailed } from "../../../run/calls/action-failed.ts";

/** Why a column can't be filled. What was computed before is kept. */
export class FillFailed extends ActionFailed {
  /** How many versions of the table the fill had made. Undefined if that is unknown. */
  merges: number | undefined;

  override get outcome(): CallOutcome {
    return { kind: "refused", commits: this.merges };
  }

  override get explanation(): string {
    return `${this.message}; what was computed before is kept`;
  }
}

/** The next call of the code would exceed a limit of the run. */
export class LimitReached extends FillFailed {}

/** The failure of code, or of what it returned. `problem`: with what follows the name of the code. */
export function codeFailed(code: Computation["with"], problem: string): FillFailed {
  return new FillFailed(`${nameOfCode(code)}${problem}`);
}
