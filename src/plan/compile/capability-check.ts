/** Checks what a target can do. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { kindsOf } from "../../actions/apply-action.ts";
import type { Table } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";

/** The capabilities that decide how a migration is applied and rolled back. */
export type Able = Pick<Capabilities, "describes" | "actions">;

export type Abilities = Pick<Capabilities, "actions" | "refuses">;

/** Why the target has no call for an action or a part of it, as text; undefined if it has one. */
export function missingCall(action: Action, { actions }: Abilities): string | undefined {
  const missing = kindsOf(action).find((kind) => actions[kind] !== true);
  return missing === undefined ? undefined : String(actions[missing] ?? `it has no call for ${missing}`);
}

/** Why the target cannot execute the action on the table as it is at that point, as text; undefined if it can. */
export function whyUnable(action: Action, before: Table | undefined, abilities: Abilities): string | undefined {
  return missingCall(action, abilities) ?? abilities.refuses?.(action, before);
}
