/**
 * Tables that look as an action leaves them and are another program's work: it created the table or added the column itself, and
 * gave it other rows or values, or none.
 */
import { formatVersion } from "../../migrations/file-name.ts";
import { unseenOf } from "../../plan/compile/unseen-effects.ts";
import type { Action } from "../../actions/model/action.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { ActionRef } from "../events.ts";

/**
 * What is known of the action's call: it was refused, and there was none before; the ledger says that it was about to be made;
 * or nothing. A target that can't be asked is believed unless it was refused; one that does not know, where it had begun.
 */
type CallOf = "refused" | "begun" | "unknown";

/**
 * In words, what is missing of an action that its table looks to have had, and what people can do; undefined where it is there.
 * `after`: the place of the ledger that follows the action, as `migrate repair --to` takes it.
 */
export async function lookAlike(
  action: Action,
  call: CallOf,
  { holds }: Pick<Target, "holds">,
  after: string,
): Promise<string | undefined> {
  const unseen = unseenOf(action);
  if (unseen === undefined || (holds === undefined && call !== "refused")) return undefined;
  const isThere = await holds?.(action);
  if (isThere === true || (isThere === undefined && call === "begun")) return undefined;
  const { what, where, by, way } = unseen;
  return isThere === false
    ? `${where} exists without ${what}; another program ${by} it: ${way}`
    : `${where} exists, and it is unknown whether it was made with ${what}: check it; if it was not, ${way}; if it was, run migrate repair --yes --to ${after}`;
}

export function placeAfter({ version, action }: Pick<ActionRef, "version" | "action">): string {
  return `${formatVersion(version)}.${action}`;
}
