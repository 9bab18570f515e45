import type { PlannedAction } from "../../plan/make-plan.ts";

/** Gives why an action is refused, as text; undefined if it is not. */
export type Judge = (planned: PlannedAction) => string | undefined;
