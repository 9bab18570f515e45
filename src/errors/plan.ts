/** Errors about deriving steps from a difference, and about saved plans. */
import { refused, usage } from "./entry.ts";

export const planErrors = {
  ERR_DIFF_UNSURE: refused((d: { questions: readonly string[] }) => d.questions.join("; ")),
  ERR_DIFF_IMPOSSIBLE: refused((d: { problems: readonly string[] }) => `no steps lead there: ${d.problems.join("; ")}`),
  ERR_PLAN_INVALID: usage(
    (d: { file: string; problem: string }) => `${d.file} ${d.problem}; make a new one with migrate plan --out`,
  ),
  ERR_PLAN_STALE: refused(
    (d: {
      /** Which of the inputs that the plan is bound to has changed since it was saved. */
      changed: "target" | "used" | "ledger" | "files" | "table" | "actions";
      problem: string;
      hint: string;
    }) => `the saved plan can't be carried out: ${d.problem}; ${d.hint}`,
  ),
} as const;
