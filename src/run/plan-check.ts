/** The checks of plans that features add. */
import type { Direction } from "../plan/compile/compile.ts";
import type { Plan } from "../plan/make-plan.ts";
import type { Target } from "../targets/contract/target.ts";
import type { Emit } from "./events.ts";

/** The database that a plan is for. */
interface PlannedDatabase {
  readonly target: Target;
  readonly signal?: AbortSignal | undefined;
}

export interface PlanCheck {
  /** Whether it also concerns `prepare`, after which applications find the same columns as before. */
  readonly holdsForPrepare?: true;
  /** The plan with the refusals, risks and notes of this check. Throws what keeps it from checking. */
  check(plan: Plan, direction: Direction, database: PlannedDatabase): Promise<Plan>;
  /** After an `up` that had nothing to do: emits what is wrong with the present tables. */
  checkNow(database: PlannedDatabase & { readonly emit: Emit }): Promise<void>;
}

export async function withPlanChecks(
  plan: Plan,
  direction: Direction,
  { planChecks = [], ...database }: PlannedDatabase & { readonly planChecks?: readonly PlanCheck[] | undefined },
): Promise<Plan> {
  let checked = plan;
  for (const one of planChecks) checked = await one.check(checked, direction, database);
  return checked;
}
