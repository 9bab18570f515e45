/** Renders steps as text. */
import { describeAction } from "../../actions/apply-action.ts";
import { compileStep, type Step } from "../../steps/registry.ts";

export function describeSteps(steps: readonly Step[]): readonly string[] {
  return steps.flatMap(compileStep).map(describeAction);
}
