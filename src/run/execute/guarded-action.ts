/** Guards an action that destroys something against writes of others that arrive at that moment. */
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import { mostRepeats } from "../../targets/contract/retry.ts";
import type { Acting, Ending } from "./send-action.ts";
import type { LateWrites, Watch } from "./late-writes.ts";

/**
 * Runs the action, unless what it destroys has changed since the check: then checks again. After the last check the
 * call is sent anyway, except a drop of a table.
 */
export async function guarded(
  run: (mayAct: Acting["mayAct"], inDoubt: boolean) => Promise<Ending>,
  planned: PlannedMigration,
  action: PlannedAction,
  at: number,
  lateWrites: LateWrites | undefined,
): Promise<Ending & { readonly lost?: unknown }> {
  if (lateWrites === undefined || planned.direction === "up") return await run(undefined, false);
  // A call without an answer may still take effect.
  let inDoubt = false;
  for (let looks = 1; ; looks++) {
    const isLast = looks === mostRepeats && action.action.kind !== "dropTable";
    let watch: Watch | undefined;
    try {
      watch = await lateWrites.before(planned, action, at);
    } catch (error) {
      return { error, inDoubt: inDoubt || (planned.doubtful && at === planned.done) };
    }
    const mayAct =
      watch === undefined || isLast ? undefined : (_: unknown, version?: number) => version === watch.version;
    const ending = await run(mayAct, inDoubt);
    if ("error" in ending && ending.moved === true && looks < mostRepeats) {
      inDoubt = ending.inDoubt;
      continue;
    }
    if ("error" in ending) return ending;
    try {
      await lateWrites.after(watch, action, ending);
    } catch (lost) {
      return { ...ending, lost };
    }
    return ending;
  }
}
