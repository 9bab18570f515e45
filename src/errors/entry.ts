/** An entry of the error catalogue, and helpers that several entries use. */
/** What an error means to the caller of `migrate`. The exit code follows from it (cli/command/exit-code.ts). */
export type Outcome = "failed" | "usage" | "refused" | "locked" | "unreachable" | "interrupted";

export interface Entry<Details> {
  readonly outcome: Outcome;
  readonly sentence: (details: Details) => string;
}

const as =
  (outcome: Outcome) =>
  <Details>(sentence: (details: Details) => string): Entry<Details> => ({ outcome, sentence });

export const failed = as("failed");
export const usage = as("usage");
export const refused = as("refused");
export const locked = as("locked");
export const unreachable = as("unreachable");
export const interrupted = as("interrupted");

/** Where a step is, for messages: "0003_widen.ts, step 2 (retypeColumn)". */
export interface StepPlace {
  readonly file: string;
  /** Counted from 1, in `up` or in the list that `of` names. */
  readonly step: number;
  readonly of?: "down" | "ran" | undefined;
  readonly kind?: string | undefined;
}

/** Where migrations are read from. */
export interface MigrationsPlace {
  /** The name of the bundle that the migrations are read from. */
  readonly bundle?: string | undefined;
  /** The name of their folder, if it is known. */
  readonly folder?: string | undefined;
}

/** That a migration is not where migrations are read from. */
export function absentFrom({ bundle, folder }: MigrationsPlace): string {
  if (bundle !== undefined) return `it is not in ${bundle}`;
  return `its file is not in the ${folder === undefined ? "migrations folder" : `folder ${folder}`}`;
}

/** "1 migration", "3 migrations", "20,000 rows". */
export function count(number: number, noun: string): string {
  return `${formatNumber(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** With separators, because tables have millions of rows. */
export function formatNumber(number: number): string {
  return number < 1_000 ? String(number) : number.toLocaleString("en-US");
}

/** "a, b, c", of many names the first few: "a, b, c, d, e and 12 others". */
export function someOf(names: readonly string[]): string {
  const more = names.length - 5;
  return more < 2 ? names.join(", ") : `${names.slice(0, 5).join(", ")} and ${more} others`;
}

/** "512 bytes", "9.6 MB". */
export function byteCount(bytes: number): string {
  const units = ["kB", "MB", "GB", "TB", "PB"];
  if (bytes < 1000) return count(bytes, "byte");
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  const scaled = bytes / 1000 ** power;
  return `${scaled < 100 ? scaled.toFixed(1) : Math.round(scaled)} ${units[power - 1]}`;
}

export function at(place: StepPlace): string {
  const of = place.of === undefined ? "" : ` of ${place.of}`;
  return `${place.file}, step ${place.step}${of}${place.kind === undefined ? "" : ` (${place.kind})`}`;
}
