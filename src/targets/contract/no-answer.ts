/** Errors that are no answer to what a target was asked. */
import { isMigrateError } from "../../errors/migrate-error.ts";

/**
 * Whether the target can't be reached, or has a damaged file: then nothing is known of the question. A refused key is an
 * answer, since it may be allowed other requests.
 */
export function isNoAnswer(error: unknown): boolean {
  return isMigrateError(error, "ERR_TARGET_UNREACHABLE") || isMigrateError(error, "ERR_DAMAGED");
}
