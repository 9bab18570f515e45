/** What a run tells at its end of taking back what it has done. */
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

/** Begins before anything is done: what it will have cost is told by the tables as they are. `before`: the last migration then. */
export async function watchRun(
  plan: Plan,
  target: Target,
  before: MigrationName | undefined,
  emit: Emit,
): Promise<Watch> {
  const took = new Map<PlannedAction, number>();
  // That nobody can tell how large a table is, is no reason not to migrate it.
  const known = await costs(plan, target).catch(() => undefined);
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
