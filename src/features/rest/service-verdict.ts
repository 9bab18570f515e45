/** Classifies the errors of a service. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { CallOutcome } from "../../targets/contract/target.ts";

export function verdictOf(error: unknown): CallOutcome {
  if (isMigrateError(error, "ERR_TARGET_UNREACHABLE")) return { kind: "unanswered" };
  // Any other error means that nothing was sent, or that the service refused the key.
  if (!isMigrateError(error, "ERR_ANSWER")) return { kind: "refused" };
  const { status, conflict, pause } = error.details;
  if (status === 429) return { kind: "throttled", pause };
  if (conflict === true) return { kind: "conflict", pause };
  // 408: the service gave up on a request that it may have begun.
  const refused = status >= 300 && status < 500 && status !== 408;
  return refused ? { kind: "refused" } : { kind: "unanswered", pause };
}
