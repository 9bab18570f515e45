/** One action on a target that describes its tables: looked at before, and after, whatever the answer was. */
import { MigrateError } from "../errors.ts";
import { withoutSwaps } from "../plan/blind.ts";
import type { PlannedAction } from "../plan/plan.ts";
import { differences, sameTables, type Tables } from "../schema/table.ts";
import type { Sight, Target } from "../targets/target.ts";
import { attempt, patience, type Acting, type Ending, type Failure } from "./attempt.ts";

export async function act(planned: PlannedAction, mayBeDone: boolean, acting: Acting): Promise<Ending> {
  const { target, lease } = acting;
  const { action, before, after } = planned;
  const again = patience(planned, acting);
  let inDoubt = mayBeDone;
  let failure: Failure | undefined;
  for (;;) {
    const sights = await look(before.keys(), target);
    const seen = sights.get(action.table);
    // After the look: whoever slept in between must not act on what his successor has made of the table.
    await lease.check();
    if (inDoubt && sameTables(after, tablesIn(sights))) return { before: undefined, after: seen?.version };
    if (!sameTables(before, tablesIn(sights))) return { error: changed(planned, sights), inDoubt };
    // Nothing is awaited from here to the call: who slept until a successor may have come looks again.
    if (!lease.isSure()) continue;
    if (maySend(planned, failure, target)) failure = await attempt(action, seen, acting);
    // Whatever the answer was, or whether there was one: the table tells what happened.
    const found = await look(before.keys(), target);
    if (sameTables(after, tablesIn(found))) return { before: seen?.version, after: found.get(action.table)?.version };
    // Not as it should be: it may be the next holder's doing, if we slept.
    await lease.check();
    failure ??= unexpected(planned, found, target);
    inDoubt ||= failure.kind === "unanswered";
    if (!sameTables(before, tablesIn(found)) || !(await again(failure))) return { error: failure.error, inDoubt };
  }
}

/**
 * A call without an answer may still be under way, and a service would carry out both. Once more of most is harmless: the
 * second is refused, or changes nothing. A swap of names would be taken back, so it is only looked for.
 */
function maySend({ action }: PlannedAction, failure: Failure | undefined, { capabilities }: Target): boolean {
  return failure?.kind !== "unanswered" || capabilities.fences || withoutSwaps(action).length === 1;
}

type Sights = ReadonlyMap<string, Sight | undefined>;

async function look(names: Iterable<string>, target: Target): Promise<Sights> {
  const sights = new Map<string, Sight | undefined>();
  for (const name of names) sights.set(name, await target.look(name));
  return sights;
}

function tablesIn(sights: Sights): Tables {
  return new Map([...sights].map(([name, sight]) => [name, sight?.table]));
}

/** The first table that is not as it should be, and how it differs. */
function wrongIn(
  expected: Tables,
  sights: Sights,
): { readonly table: string; readonly differences: readonly string[] } {
  const found = [...expected].map(([table, should]) => ({
    table,
    differences: differences(should, sights.get(table)?.table),
  }));
  return found.find((one) => one.differences.length > 0) ?? found[0]!;
}

function changed({ place, before }: PlannedAction, sights: Sights): MigrateError {
  return new MigrateError("ERR_TABLE_CHANGED", { ...place, ...wrongIn(before, sights) });
}

/** What was answered well and has another result. A service may also not yet show what it has done. */
function unexpected({ place, before, after }: PlannedAction, found: Sights, { capabilities }: Target): Failure {
  const error = new MigrateError("ERR_UNEXPECTED_RESULT", { ...place, ...wrongIn(after, found) });
  const mayCome = !capabilities.fences && sameTables(before, tablesIn(found));
  return { kind: mayCome ? "unanswered" : "refused", error };
}
