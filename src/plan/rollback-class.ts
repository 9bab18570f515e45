/** How each action of a plan would be taken back, said before it runs. Pure. */
import { describeAction, kindsOf, wayBackOf, type Action } from "../schema/action.ts";
import { formatType } from "../schema/data-type.ts";
import type { Database } from "../schema/table.ts";
import type { Obstacle } from "../schema/way-back.ts";
import type { Capabilities } from "../targets/target.ts";
import { withoutSwaps } from "./blind.ts";

/**
 * - `exact`: other actions bring back the schema and every value.
 * - `checked`: so they do, unless rows stand in the way, which is found out before anything is changed where rows can be counted.
 * - `none`: this target can't take it back.
 */
export type RollbackClass = "exact" | "checked" | "none";

export interface ActionRollback {
  readonly class: RollbackClass;
  /** What takes it back, in this order; nothing where nothing does. */
  readonly actions: readonly Action[];
  /** These in words. */
  readonly text: string;
  /** What may stand in the way, or why there is no way. */
  readonly reason: string | undefined;
}

/** `before`: the database before the action. */
export function classify(
  action: Action,
  before: Database,
  { actions: able, describes }: Pick<Capabilities, "actions" | "describes">,
): ActionRollback {
  const none = (reason: string): ActionRollback => ({ class: "none", actions: [], text: "", reason });
  const way = wayBackOf(action, before);
  if ("lost" in way) return none(way.lost);
  const actions = describes ? way.actions : way.actions.flatMap(withoutSwaps);
  const missing = actions.flatMap(kindsOf).find((kind) => able[kind] !== true);
  if (missing !== undefined) return none(String(able[missing] ?? `the target has no call for ${missing}`));
  const text = actions.map(describeAction).join(", then ");
  if (way.obstacles.length === 0) return { class: "exact", actions, text, reason: undefined };
  return { class: "checked", actions, text, reason: way.obstacles.map(conditionOf).join(", ") };
}

function conditionOf(obstacle: Obstacle): string {
  const { table } = obstacle;
  switch (obstacle.kind) {
    case "null":
      return `unless ${table}.${obstacle.path} holds nulls by then`;
    case "values":
      return `unless ${table}.${obstacle.path} holds values by then`;
    case "cast":
      return `unless values of ${table}.${obstacle.path} are not the same as ${formatType(obstacle.to)} by then`;
    case "rows":
      return `unless ${table} holds ${obstacle.own === 0 ? "rows" : "more rows"} by then`;
  }
}
