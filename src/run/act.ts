/** One action on a target that describes its tables: looked at before, and after, whatever the answer was. */
import { MigrateError } from "../errors.ts";
import type { PlannedAction } from "../plan/plan.ts";
import { differences, sameTable } from "../schema/table.ts";
import type { Sight } from "../targets/target.ts";
import { attempt, patience, type Acting, type Ending } from "./attempt.ts";

export async function act(planned: PlannedAction, mayBeDone: boolean, acting: Acting): Promise<Ending> {
  const { target, lease } = acting;
  const { action } = planned;
  const again = patience(planned, acting);
  for (;;) {
    const seen = await target.look(action.table);
    // After the look: whoever slept in between must not act on what his successor has made of the table.
    await lease.check();
    const isDone = mayBeDone && sameTable(seen?.table, planned.after);
    if (!isDone && !sameTable(seen?.table, planned.before)) return { error: changed(planned, seen), inDoubt: false };
    // Nothing is awaited from here to the call: who slept until a successor may have come looks again.
    if (!lease.isSure()) continue;
    const failure = isDone ? undefined : await attempt(planned, seen, acting);
    // Whatever the answer was, or whether there was one: the table tells what happened.
    const found = await target.look(action.table);
    if (sameTable(found?.table, planned.after)) return { before: seen?.version, after: found?.version };
    // Not as it should be: it may be the next holder's doing, if we slept.
    await lease.check();
    if (failure === undefined) return { error: unexpected(planned, found), inDoubt: false };
    const inDoubt = failure.kind === "unanswered";
    if (!sameTable(found?.table, planned.before) || !(await again(failure))) return { error: failure.error, inDoubt };
  }
}

function changed({ place, action, before }: PlannedAction, seen: Sight | undefined): MigrateError {
  return new MigrateError("ERR_TABLE_CHANGED", {
    ...place,
    table: action.table,
    differences: differences(before, seen?.table),
  });
}

function unexpected({ place, action, after }: PlannedAction, found: Sight | undefined): MigrateError {
  return new MigrateError("ERR_UNEXPECTED_RESULT", {
    ...place,
    table: action.table,
    differences: differences(after, found?.table),
  });
}
