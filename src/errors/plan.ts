/** Errors about deriving steps from a difference, and about saved plans. */
import { at, refused, usage, type StepPlace } from "./entry.ts";

export const planErrors = {
  ERR_DIFF_UNSURE: refused((d: { questions: readonly string[] }) => d.questions.join("; ")),
  ERR_DIFF_IMPOSSIBLE: refused((d: { problems: readonly string[] }) => `no steps lead there: ${d.problems.join("; ")}`),
  ERR_PLAN_INVALID: usage(
    (d: { file: string; problem: string }) => `${d.file} ${d.problem}; make a new one with migrate plan --out FILE`,
  ),
  ERR_PLAN_STALE: refused(
    (d: {
      /** Which of the inputs that the plan is bound to has changed since it was saved. */
      changed: "target" | "used" | "ledger" | "files" | "table" | "actions";
      problem: string;
      hint: string;
    }) => `the saved plan can't be carried out: ${d.problem}; ${d.hint}`,
  ),
  ERR_CONTRACT: refused(
    (
      d: StepPlace & {
        direction: "up" | "down";
        /** Beginning with the application and its release. */
        broken: readonly string[];
        /** The steps that do the same without breaking these releases. The command prints them below. */
        sequence: readonly string[];
      },
    ) =>
      `${d.direction === "up" ? at(d) : `the rollback of ${at(d)}`} would break a release that still runs: ${d.broken.join("; ")}; ${d.sequence.length === 0 ? "use other steps" : "follow the sequence that breaks none"}, or remove the contract of a release that no longer runs`,
  ),
  ERR_CONTRACT_MISSING: usage(
    /** `target`: the one whose setting names the path; undefined if it was given for this run. */
    (d: { path: string; target: string | undefined }) =>
      d.target === undefined
        ? `the contract ${d.path} does not exist; correct its path, or leave it out`
        : `the folder ${d.path}, which target ${d.target} names in its setting contracts, does not exist; create it (it may be empty), or correct the setting`,
  ),
  ERR_CONTRACT_INVALID: usage((d: { file: string; problem: string }) => `the contract ${d.file} ${d.problem}`),
} as const;
