/** The recall that applied migrations require of indexes. Pure. */
import { refAfter } from "../../actions/apply-action.ts";
import type { Action, RecallCondition } from "../../actions/model/action.ts";
import type { ColumnRef } from "../../actions/model/action-model.ts";

export interface ConditionOfIndex {
  /** Its table, as it is called after the actions. */
  readonly table: string;
  readonly name: string;
  readonly condition: RecallCondition;
}

/** `actions`: in the order in which they ran. */
export function recallConditions(actions: readonly Action[]): readonly ConditionOfIndex[] {
  let found: readonly ConditionOfIndex[] = [];
  for (const action of actions) {
    found = found.flatMap((one) => {
      if (replaces(action, one)) return [];
      const at: ColumnRef | undefined = refAfter({ table: one.table, path: [] }, action);
      return at === undefined ? [] : [{ ...one, table: at.table }];
    });
    if (action.kind !== "createIndex" || action.condition === undefined) continue;
    const { table, name, condition } = action;
    found = [...found, { table, name, condition }];
  }
  return found;
}

function replaces(action: Action, { table, name }: ConditionOfIndex): boolean {
  return (
    (action.kind === "dropIndex" || action.kind === "createIndex") && action.table === table && action.name === name
  );
}
