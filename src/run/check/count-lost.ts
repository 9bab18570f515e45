/** Counts the rows that lose a value, for the actions of which these rows decide whether consent is needed. */
import type { Action } from "../../actions/model/action.ts";
import { lossQueries, type LossQueries, type LostRows } from "../../plan/assess/lost-rows.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import type { Target } from "../../targets/contract/target.ts";

export async function countLost({ now, migrations }: Plan, target: Target): Promise<LostRows> {
  const lost = new Map<PlannedAction, number | undefined>();
  const earlier: Action[] = [];
  for (const planned of migrations.flatMap(({ actions }) => actions)) {
    const queries = lossQueries(planned, earlier, now);
    if (queries !== undefined) lost.set(planned, await rowsOf(queries, target));
    earlier.push(planned.action);
  }
  return lost;
}

async function rowsOf({ queries, isEmpty }: LossQueries, { countRows, verdict }: Target): Promise<number | undefined> {
  if (isEmpty) return 0;
  for (const { table, where } of queries)
    try {
      return await countRows?.(table, where);
    } catch (error) {
      // A query that is refused leaves the next one, and the number unknown after the last one.
      if (verdict(error).kind !== "refused") throw error;
    }
  return undefined;
}
