/** Turns an error of a rollback plan into ERR_IRREVERSIBLE, with a hint at what can be rolled back instead. Pure. */
import { isMigrateError, MigrateError, type StepPlace } from "../errors/migrate-error.ts";

/** `after`: how many migrations ran after this one and are rolled back before it. Throws ERR_IRREVERSIBLE. */
export function explainIrreversible<Result>(after: number, plan: () => Result): Result {
  try {
    return plan();
  } catch (cause) {
    const found = placeAndProblem(cause);
    if (found === undefined) throw cause;
    const hint = after === 0 ? undefined : `migrate down --steps ${after} rolls back what ran after it`;
    throw new MigrateError("ERR_IRREVERSIBLE", { ...found, hint }, { cause });
  }
}

function placeAndProblem(cause: unknown): (StepPlace & { readonly problem: string }) | undefined {
  if (isMigrateError(cause, "ERR_IRREVERSIBLE")) return cause.details;
  if (isMigrateError(cause, "ERR_STEP_IMPOSSIBLE")) return cause.details;
  if (!isMigrateError(cause, "ERR_UNSUPPORTED")) return undefined;
  const { file, step, kind, target, reason } = cause.details;
  return { file, step, kind, problem: `target ${target} can't do it: ${reason}` };
}
