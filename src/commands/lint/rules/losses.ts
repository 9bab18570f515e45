/** What rules about losses have in common. Pure. */
import type { Risk } from "../../../actions/model/risk.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";
import type { Remark, Surroundings } from "./rule.ts";

/** The losses of an action for which `up` would ask for consent, unless its file accepts them. */
export function remarksOnLosses(
  { risks, rollback }: PlannedAction,
  { migration }: Surroundings,
  isMeant: (risk: Risk) => boolean,
): readonly Remark[] {
  const { accepts = [] } = migration;
  const consent = rollback?.class === "none" ? "irreversible" : "lossy";
  // What a migration made itself nobody else has written to. That nothing brings it back another rule says.
  if (rollback?.class === "exact" || accepts.length > 0) return [];
  const meant = risks.filter((risk) => risk.kind === "loss" && isMeant(risk));
  return meant.map(({ text }) => ({
    message: `${text}; up asks for consent: if it is meant, write export const accepts = ["${consent}"]`,
  }));
}

/** Whether values stay, and may be others. */
export function isCut({ obstacle, text }: Risk): boolean {
  return obstacle?.kind === "cast" || text.includes("may cut values");
}
