/** What `up` reports at its end about rolling back what it has applied. */
import type { Clock } from "../time/clock.ts";
import type { MigrationName } from "../migrations/file-name.ts";
import type { Plan } from "../plan/make-plan.ts";
import { recoveryOf, type Recovery } from "../plan/assess/recovery.ts";
import type { Target } from "../targets/contract/target.ts";
import { costs } from "../run/prepare/estimate.ts";

/** Milliseconds. */
const patience = 2_000;

/**
 * Must be called before anything is executed, because the number of rows to rewrite depends on the tables then.
 * `before`: the migration that ran last at that point. Undefined if the answer is unknown.
 */
export async function askRecovery(
  plan: Plan,
  target: Target,
  before: MigrationName | undefined,
  clock: Clock,
): Promise<Recovery | undefined> {
  const asking = costs(plan, target, true);
  const known = target.size === undefined ? await asking : await quickly(asking, clock);
  return known && recoveryOf(plan.migrations, before, known);
}

/** Undefined after `patience` or a failure: the hint is only informative, so no run waits long or fails for it. */
async function quickly<Result>(work: Promise<Result>, clock: Clock): Promise<Result | undefined> {
  const done = new AbortController();
  const nothing = () => undefined;
  try {
    return (await Promise.race([work.catch(nothing), clock.sleep(patience, done.signal).catch(nothing)])) as
      | Result
      | undefined;
  } finally {
    done.abort();
  }
}
