/** Checks of the options that several members of the migrator take. */
import { isText, must, wholeNumber, yesOrNo, type Shape } from "../checks/check.ts";
import { acceptances } from "../migrations/acceptance.ts";
import type { Choice, RunChoice } from "../plan/history/pending.ts";
import { wordsOf } from "./load-config.ts";

export const to = wholeNumber(0, "must be the number of a migration");
export const migration = must(
  (value) => isText(value) || Number.isSafeInteger(value),
  "must be the number of a migration, or its number and name",
);
export const count = (least: number) => wholeNumber(least, `must be a whole number, at least ${least}`);

export const upShape: Shape<Choice> = { to, allowOutOfOrder: yesOrNo, accept: wordsOf(acceptances) };
export const stepsShape: Shape<Pick<RunChoice, "steps">> = { steps: count(1) };
