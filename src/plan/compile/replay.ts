/** Applies actions one after another to what is known of the tables. Pure. */
import { tablesAfter, tablesOfAction } from "../../actions/apply-action.ts";
import type { Action } from "../../actions/model/action.ts";
import { catchMigrateError, MigrateError, type StepPlace } from "../../errors/migrate-error.ts";
import { change, type Table, type Tables } from "../../schema/table.ts";

/** An action, and the step that an error about it names, if there is one. */
interface Replayed {
  readonly action: Action;
  readonly place?: StepPlace;
}

/**
 * Applies the actions in order to the database itself, and returns what `visit` makes of each. `before`: the tables that
 * the action touches. `after`: those that it changes. Throws ERR_STEP_IMPOSSIBLE with the place of an action that can't
 * work.
 */
export function replay<One extends Replayed, Result = void>(
  database: Map<string, Table>,
  actions: readonly One[],
  visit?: (one: One, before: Tables, after: Tables, index: number) => Result,
): readonly Result[] {
  return actions.map((one, index) => {
    const { action, place } = one;
    const before = new Map(tablesOfAction(action).map((name) => [name, database.get(name)]));
    const apply = () => tablesAfter(database, action);
    const after = place === undefined ? apply() : withPlace(place, apply);
    change(database, after);
    return visit?.(one, before, after, index) as Result;
  });
}

/** Turns an error of `work` into ERR_STEP_IMPOSSIBLE with the place of the step. */
export function withPlace<Result>(place: StepPlace, work: () => Result): Result {
  return catchMigrateError(work, (cause) => {
    throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem: cause.message }, { cause });
  });
}
