/**
 * Applies the declared schema to the tables without a migration, for prototyping. The run holds the lease, and records
 * nothing else: the next push finds from the tables what is left to do.
 */
import { isDeepStrictEqual } from "node:util";
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { Lease } from "../../../ledger/lease/lease.ts";
import { checkRefusals } from "../../../plan/assess/guards.ts";
import type { PlannedMigration } from "../../../plan/make-plan.ts";
import { executeAction, metadataError } from "../../../run/execute/action-events.ts";
import { isStated } from "../../../run/execute/migration-progress.ts";
import { ifCurrent } from "../../../run/prepare/consistent-read.ts";
import { withLease } from "../../../run/lease/with-lease.ts";
import { throwIfInterrupted } from "../../../run/lease/wait-for-lease.ts";
import { runContext, type MigratorOptions, type RunContext } from "../../../run/run-context.ts";
import type { Step } from "../../../steps/registry.ts";
import { planPushOn, refused, type PushChoice } from "./plan-push.ts";

/** `steps`: those of the plan that was shown. Throws ERR_PUSH_REFUSED, ERR_PUSH_FAILED, and as `checkRefusals`. */
export async function push(options: MigratorOptions, choice: PushChoice, steps: readonly Step[]): Promise<void> {
  const context = runContext(options);
  await withLease(context, {
    async prepare(ledger) {
      const made = await ifCurrent(context, ledger, () => planPushOn(context, ledger, choice));
      if (made === undefined) return undefined;
      // Another push may have done all of it meanwhile.
      if (made.steps.length > 0 && !isDeepStrictEqual(made.steps, steps))
        throw refused("the tables have changed since the plan was made", "run migrate push again");
      checkRefusals(made.plan, context.target.name, "migrate push");
      return { first: undefined, act: (lease) => carryOut(made.plan.migrations, context, lease) };
    },
  });
}

async function carryOut(migrations: readonly PlannedMigration[], context: RunContext, held: Lease): Promise<void> {
  // The ledger knows no migration whose late call the next run could check.
  const lease = { ...held, recordLate: async () => {} };
  try {
    for (const { actions, migration } of migrations)
      for (const [index, action] of actions.entries()) {
        throwIfInterrupted(context.signal);
        const { version, name } = migration;
        const place = { version, name, action: index + 1, total: actions.length };
        // An index that is lost with a killed run is missing then, so the next push creates it.
        const notes = { midway: undefined, note: async () => {} };
        const ending = await executeAction(action, false, {
          ...context,
          ...notes,
          lease,
          place,
          mayLose: true,
        });
        const error = "error" in ending ? ending.error : metadataError(place, ending.harm);
        if (error === undefined) continue;
        if (isStated(error)) throw error;
        const details = {
          text: action.text,
          problem: context.target.explain(error),
          done: index,
          total: actions.length,
        };
        throw new MigrateError("ERR_PUSH_FAILED", details, { cause: error });
      }
  } catch (error) {
    // No migration is in doubt, so the next run need not wait.
    await held.release().catch(() => {});
    throw error;
  }
}
