/**
 * Detects tables that look as an action leaves them although another program made them so: it created the table or
 * added the column itself, with other rows or values, or none.
 */
import { formatVersion } from "../../migrations/file-name.ts";
import { unseenOf } from "../../plan/compile/unseen-effects.ts";
import type { Action } from "../../actions/model/action.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { ActionRef } from "../events.ts";

/**
 * What is known of the action's call.
 * - `refused`: it was refused, and no earlier call is in doubt.
 * - `begun`: the ledger records that it was about to be made.
 * - `unknown`: nothing.
 *
 * If the target can't be asked, the action counts as done unless it was refused. If the target's answer is unknown, the
 * action counts as done only if it had begun.
 */
type CallOf = "refused" | "begun" | "unknown";

/**
 * What is missing although the table looks as if the action were done, and what people can do about it, as text;
 * undefined if nothing is missing. `place`: that of the action.
 */
export async function madeByOthers(
  action: Action,
  call: CallOf,
  { holds }: Pick<Target, "holds">,
  { version, action: number }: Pick<ActionRef, "version" | "action">,
): Promise<string | undefined> {
  const unseen = unseenOf(action);
  if (unseen === undefined || (holds === undefined && call !== "refused")) return undefined;
  const isThere = await holds?.(action);
  if (isThere === true || (isThere === undefined && call === "begun")) return undefined;
  const { what, where, by, way } = unseen;
  return isThere === false
    ? `${where} exists without ${what}; another program ${by} it: ${way}`
    : `${where} exists, and it is unknown whether it was made with ${what}: check it; if it was not, ${way}; if it was, run migrate repair --yes --to ${formatVersion(version)}.${number}`;
}
