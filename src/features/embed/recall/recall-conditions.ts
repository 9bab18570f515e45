/** The recall that applied migrations require of indexes. Pure. */
import { refAfter } from "../../../actions/apply-action.ts";
import type { Action, RecallCondition } from "../../../actions/model/action.ts";
import type { ColumnRef } from "../../../actions/model/action-model.ts";

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
    const condition = "condition" in action ? action.condition : undefined;
    const name = nameOfIndex(action);
    if (condition !== undefined && name !== undefined) found = [...found, { table: action.table, name, condition }];
  }
  return found;
}

function replaces(action: Action, { table, name }: ConditionOfIndex): boolean {
  return action.table === table && nameOfIndex(action) === name;
}

/** The index that an action creates or drops. */
function nameOfIndex(action: Action): string | undefined {
  switch (action.kind) {
    case "createIndex":
    case "dropIndex":
      return action.name;
    case "prepareColumn":
      return action.index?.name;
    default:
      return undefined;
  }
}
