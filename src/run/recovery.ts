/** What a run tells at its end of taking back what it has done. */
import type { Clock } from "../clock.ts";
import type { MigrationName } from "../migrations/file-name.ts";
import type { Plan, PlannedAction } from "../plan/plan.ts";
import { recoveryOf, type Recovery } from "../plan/recovery.ts";
import type { Target } from "../targets/target.ts";
import type { Emit } from "./events.ts";
import { costs } from "./survey.ts";

export interface Watch {
  /** To be told what the run tells. */
  readonly emit: Emit;
  /** Once all is done; undefined where nobody could tell. */
  readonly recovery: () => Recovery | undefined;
}

/** Milliseconds. */
const patience = 2_000;

/** Begins before anything is done: what it will have cost is told by the tables as they are. `before`: the last migration then. */
export async function watchRun(
  plan: Plan,
  target: Target,
  before: MigrationName | undefined,
  { emit, clock }: { readonly emit: Emit; readonly clock: Clock },
): Promise<Watch> {
  const took = new Map<PlannedAction, number>();
  const asking = costs(plan, target, true);
  const known = target.size === undefined ? await asking : await quickly(asking, clock);
  return {
    emit(event) {
      if (event.event === "done") {
        const planned = plan.migrations.find(({ migration }) => migration.version === event.version);
        const action = planned?.actions[event.action - 1 - planned.done];
        if (action !== undefined) took.set(action, event.duration);
      }
      emit(event);
    },
    recovery: () => known && recoveryOf(plan.migrations, before, known, took),
  };
}

/** Nobody waits long for what is only told. */
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
