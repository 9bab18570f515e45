import type { Risk } from "../../../actions/model/risk.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";
import type { Remark, Rule, Surroundings } from "./rule.ts";

/** Reports the loss of tables, columns, rows and values. */
export const losesData = {
  id: "loses-data",
  severity: "warning",
  finds: "a table, a column, rows or values are lost",
  check: (action, surroundings) => remarksOnLosses(action, surroundings, ({ changesValues }) => changesValues !== true),
} as const satisfies Rule;

/** Reports casts that may change values silently. */
export const lossyCast = {
  id: "lossy-cast",
  severity: "warning",
  finds: "a cast or an expression may change values silently, or lose them in some rows",
  check: (action, surroundings) => remarksOnLosses(action, surroundings, ({ changesValues }) => changesValues === true),
} as const satisfies Rule;

/** The losses of an action for which `up` would ask for consent, unless its file accepts losses. */
function remarksOnLosses(
  { risks, rollback: own, withoutDown }: PlannedAction,
  { migration }: Surroundings,
  isMeant: (risk: Risk) => boolean,
): readonly Remark[] {
  const { accepts = [] } = migration;
  const rollback = own ?? withoutDown;
  const consent = rollback?.class === "none" ? "irreversible" : "lossy";
  // A loss with an exact rollback concerns only what the migration made itself, where no other writer has rows. The
  // rule not-reversible reports that nothing can bring the data back.
  if (rollback?.class === "exact" || accepts.length > 0) return [];
  const meant = risks.filter((risk) => risk.kind === "loss" && isMeant(risk));
  return meant.map(({ text, isCounted }) => ({
    message: `${text}; up asks for consent${isCounted ? " if there are such rows" : ""}: if it is meant, write export const accepts = ["${consent}"]`,
  }));
}
