/** What a mutant is, wherever it comes from. */

export interface Mutant {
  readonly id: string;
  /** What the program does wrong with it. */
  readonly does: string;
  /** Relative to src. */
  readonly file: string;
  /** Occurs in the file once. */
  readonly find: string;
  readonly replace: string;
}

export interface NamedMutant extends Mutant {
  /** Relative to test; one of them must fail. */
  readonly killedBy: readonly string[];
}

/** The source with the mutant in it; undefined unless its text occurs exactly once. */
export function planted(text: string, { find, replace }: Pick<Mutant, "find" | "replace">): string | undefined {
  const [before, after, ...more] = text.split(find);
  return after === undefined || more.length > 0 ? undefined : before + replace + after;
}

export function keyOf({ file, id }: Pick<Mutant, "file" | "id">): string {
  return `${file} ${id}`;
}
