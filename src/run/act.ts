/** One action on a target that describes its tables: looked at before, and after, whatever the answer was. */
import { MigrateError } from "../errors.ts";
import { withoutSwaps } from "../plan/blind.ts";
import type { PlannedAction } from "../plan/plan.ts";
import { differences, sameTable } from "../schema/table.ts";
import type { Sight, Target } from "../targets/target.ts";
import { attempt, patience, type Acting, type Ending, type Failure } from "./attempt.ts";

export async function act(planned: PlannedAction, mayBeDone: boolean, acting: Acting): Promise<Ending> {
  const { target, lease } = acting;
  const { action, before, after } = planned;
  const again = patience(planned, acting);
  let inDoubt = mayBeDone;
  let failure: Failure | undefined;
  for (;;) {
    const seen = await target.look(action.table);
    // After the look: whoever slept in between must not act on what his successor has made of the table.
    await lease.check();
    if (inDoubt && sameTable(seen?.table, after)) return { before: undefined, after: seen?.version };
    if (!sameTable(seen?.table, before)) return { error: changed(planned, seen), inDoubt };
    // Nothing is awaited from here to the call: who slept until a successor may have come looks again.
    if (!lease.isSure()) continue;
    if (maySend(planned, failure, target)) failure = await attempt(action, seen, acting);
    // Whatever the answer was, or whether there was one: the table tells what happened.
    const found = await target.look(action.table);
    if (sameTable(found?.table, after)) return { before: seen?.version, after: found?.version };
    // Not as it should be: it may be the next holder's doing, if we slept.
    await lease.check();
    failure ??= unexpected(planned, found, target);
    inDoubt ||= failure.kind === "unanswered";
    if (!sameTable(found?.table, before) || !(await again(failure))) return { error: failure.error, inDoubt };
  }
}

/**
 * A call without an answer may still be under way, and a service would carry out both. Once more of most is harmless: the
 * second is refused, or changes nothing. A swap of names would be taken back, so it is only looked for.
 */
function maySend({ action }: PlannedAction, failure: Failure | undefined, { capabilities }: Target): boolean {
  return failure?.kind !== "unanswered" || capabilities.fences || withoutSwaps(action).length === 1;
}

function changed({ place, action, before }: PlannedAction, seen: Sight | undefined): MigrateError {
  return new MigrateError("ERR_TABLE_CHANGED", {
    ...place,
    table: action.table,
    differences: differences(before, seen?.table),
  });
}

/** What was answered well and has another result. A service may also not yet show what it has done. */
function unexpected(
  { place, action, before, after }: PlannedAction,
  found: Sight | undefined,
  { capabilities }: Target,
): Failure {
  const words = differences(after, found?.table);
  const error = new MigrateError("ERR_UNEXPECTED_RESULT", { ...place, table: action.table, differences: words });
  const mayCome = !capabilities.fences && sameTable(found?.table, before);
  return { kind: mayCome ? "unanswered" : "refused", error };
}
