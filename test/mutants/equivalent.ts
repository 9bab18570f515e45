/** Drawn mutants with which the program does the same, and why. They count as survivors in the score. */

export interface Equivalent {
  readonly file: string;
  readonly id: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: "engine/manifest/manifest.ts",
    id: "pathIn.00498e",
    why: "a version has one of the two names: the engine renames all manifests of a table when it changes their names",
  },
  {
    file: "engine/folder/private-folder.ts",
    id: "kindOf.00d10a",
    why: "no two kinds have the same beginning, and all of a name is compared",
  },
  {
    file: "plan/commits/commits.ts",
    id: "commitsDone.01934d",
    why: "only of a detour all commits are meant: the state before its first one is that before the commit itself, and that one changes no rows",
  },
  {
    file: "features/author/branch/plan-squash.ts",
    id: "planSquash.01b4fd",
    why: "a squash leads to the same tables (squash-steps.test.ts), so no input makes this check fail: it is there for a defect of squash",
  },
  {
    file: "features/author/branch/plan-squash.ts",
    id: "planSquash.013d44",
    why: "a squash leads to the same tables (squash-steps.test.ts), so no input makes this check fail: it is there for a defect of squash",
  },
];
