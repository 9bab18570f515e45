import type { CallOutcome } from "../../targets/contract/target.ts";

/** Why an executor of a run has not executed an action. Such an error states itself what it means for the run. */
export class ActionFailed extends Error {
  get outcome(): CallOutcome {
    return { kind: "refused" };
  }

  /** In one line, for the message of the step. */
  get explanation(): string {
    return this.message;
  }
}
