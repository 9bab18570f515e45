/** Executes one action, and reports how it goes. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import { executeDescribed } from "./execute-described.ts";
import { executeInCommits, mayTakeCommits, type PartialNotes } from "./commit-loop.ts";
import type { ActionContext, ActionResult } from "./send-action.ts";
import { executeUndescribed } from "./execute-undescribed.ts";

/** The milliseconds after which a run first reports that an action is still running. */
const firstWord = 2_000;

/** `mayBeDone`: whether a run that was stopped may have done it. */
export async function executeAction(
  planned: PlannedAction,
  mayBeDone: boolean,
  given: Omit<ActionContext, "pending"> & PartialNotes,
): Promise<ActionResult> {
  const pending: ActionContext["pending"] = [];
  const context = { ...given, pending };
  const { target, clock, emit, place } = context;
  const { text } = planned;
  emit({ event: "action", ...place, text });
  const started = clock.steady();
  const elapsed = () => Math.round(clock.steady() - started);
  const quiet = clock.every(firstWord, () => emit({ event: "running", ...place, text, elapsed: elapsed() }));
  try {
    const inCommits = mayTakeCommits(planned) ? executeInCommits : executeDescribed;
    const carryOut = target.capabilities.describes ? inCommits : executeUndescribed;
    // A call that is still under way could reach a table that a later action makes.
    const ending = await carryOut(planned, mayBeDone, context).finally(() => Promise.allSettled(pending));
    // Any of these calls may have done harm, whichever was answered first.
    const called = await Promise.all(pending);
    if ("error" in ending) return ending;
    emit({ event: "done", ...place, text, duration: elapsed() });
    return { ...ending, harm: ending.harm ?? called.find(({ harm }) => harm !== undefined)?.harm };
  } catch (error) {
    // A description or a query failed. The action may have run.
    return { error, inDoubt: true };
  } finally {
    quiet();
  }
}

/** The error if an action has lost something of others; otherwise undefined. */
export function metadataError(
  { version, name, action }: ActionContext["place"],
  problem: string | undefined,
): MigrateError | undefined {
  if (problem === undefined) return undefined;
  return new MigrateError("ERR_METADATA_LOST", { version: formatVersion(version), name, action, problem });
}
