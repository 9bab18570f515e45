/**
 * Executes one action on a target that can't describe its tables. The target is asked for names that only the action can
 * have made: after the call, whose answer proves nothing, and before it while the action is in doubt, because an earlier
 * call has no answer or because the run that began it was lost.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import { parsePath } from "../../schema/path.ts";
import { columnPaths } from "../../schema/table.ts";
import { sendAction, nextTry, type ActionContext, type ActionResult, type Failure } from "./send-action.ts";
import { hasColumns } from "../check/probe-columns.ts";

export async function executeUndescribed(
  planned: PlannedAction,
  mayBeDone: boolean,
  context: ActionContext,
): Promise<ActionResult> {
  const { lease } = context;
  const again = nextTry(planned, context);
  const done = { versionBefore: undefined, versionAfter: undefined };
  let inDoubt = mayBeDone;
  for (;;) {
    if (inDoubt && (await hasRun(planned, context))) return done;
    await lease.check();
    // Nothing is awaited from here to the call.
    if (!lease.isSure()) continue;
    const { failure = await undone(planned, context) } = await sendAction(
      planned.action,
      { table: planned.before.get(planned.action.table) ?? { columns: [] }, version: undefined },
      context,
    );
    if (failure === undefined) return done;
    // An earlier call may have succeeded between the question and this call.
    if (failure.kind === "refused" && inDoubt && (await hasRun(planned, context))) return done;
    // If this process was suspended, the call may have been refused because of what the next holder did.
    await lease.check();
    inDoubt ||= failure.kind === "unanswered";
    if (!(await again(failure))) return { error: failure.error, inDoubt };
  }
}

/** The failure of a call that was answered as a success and shows no effect. */
async function undone(planned: PlannedAction, context: ActionContext): Promise<Failure | undefined> {
  const { place, action, text, proof } = planned;
  if (proof?.kind === "listed" && (await context.target.listTables()).includes(action.table)) return undefined;
  if (proof?.kind === "repeatable" || (await hasRun(planned, context))) return undefined;
  const differences = [`the service reports success for: ${text}, and has not done it`];
  return {
    kind: "unanswered",
    error: new MigrateError("ERR_UNEXPECTED_RESULT", { ...place, table: action.table, differences }),
  };
}

async function hasRun({ action, proof, after }: PlannedAction, context: ActionContext): Promise<boolean> {
  const { target } = context;
  const table = after.get(action.table);
  if (table === undefined) return false;
  switch (proof?.kind) {
    case "listed":
      // A table of that name without these columns was made by another program.
      return (
        (await target.listTables()).includes(action.table) &&
        (await hasColumns(action.table, table, columnPaths(table.columns), context))
      );
    case "column":
      return await hasColumns(action.table, table, [parsePath(proof.path)], context);
    default:
      return false;
  }
}
