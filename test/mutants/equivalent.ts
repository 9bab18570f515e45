/** Drawn mutants with which the program does the same, and why. They count as survivors in the score over all. */

export interface Equivalent {
  readonly file: string;
  readonly id: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: "ledger/state/applied-hash.ts",
    id: "08ef25",
    why: "no version is negative, so all of them are above -1 and above -2",
  },
  {
    file: "plan/history/position.ts",
    id: "06336c",
    why: "a row of actions has each action of a migration once",
  },
  {
    file: "commands/branch/rebase-steps.ts",
    id: "005134",
    why: "an action of a step adds one column",
  },
  {
    file: "plan/assess/blocking-rows.ts",
    id: "00773f",
    why: "the versions of a table begin with 1, and a migration leaves one of them",
  },
  {
    file: "run/check/table-identity.ts",
    id: "0a8894",
    why: "all callers have checked that the target has versions",
  },
  {
    file: "plan/history/pending.ts",
    id: "284942",
    why: "a rollback of one migration ends before that of another begins",
  },
];
