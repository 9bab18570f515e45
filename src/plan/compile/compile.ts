/** Compiles steps to actions, and checks that the target has calls for these. Pure. */
import type { StepPlace } from "../../errors/migrate-error.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Action } from "../../actions/model/action.ts";
import { kindsOf } from "../../actions/apply-action.ts";
import { compileStep, type Step } from "../../steps/registry.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { oneByOne } from "./undescribed.ts";

/** Whether a migration is applied or rolled back. */
export type Direction = "up" | "down";

export type Describing = Pick<Capabilities, "describes">;

/** The capabilities that decide how a migration is applied and rolled back. */
export type Able = Pick<Capabilities, "describes" | "actions"> & Partial<Pick<Capabilities, "fences">>;

/** An action and the step that it belongs to. */
export interface PlacedAction {
  readonly place: StepPlace;
  readonly action: Action;
  /** Only on `restoreTable`: the migration's actions on that table, which the restore undoes. */
  readonly undoes?: readonly Action[] | undefined;
}

export function actionsOf(step: Step, { describes }: Describing): readonly Action[] {
  const actions = compileStep(step);
  return describes ? actions : actions.flatMap(oneByOne);
}

export function compileMigration(
  { file, steps }: Pick<Migration, "file" | "steps">,
  describing: Describing,
): readonly PlacedAction[] {
  return steps.flatMap((step, index) =>
    actionsOf(step, describing).map((action) => ({ place: { file, step: index + 1, kind: step.kind }, action })),
  );
}

/** Why the target has no call for an action or a part of it, as text; undefined if it has one. */
export function missingCall(action: Action, actions: Capabilities["actions"]): string | undefined {
  const missing = kindsOf(action).find((kind) => actions[kind] !== true);
  return missing === undefined ? undefined : String(actions[missing] ?? `the target has no call for ${missing}`);
}
