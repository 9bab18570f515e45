/** Drawn mutants with which the program does the same, and why. They count as survivors in the score. */

export interface Equivalent {
  readonly file: string;
  readonly id: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [];
