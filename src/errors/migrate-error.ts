/** The error class, whose codes and sentences are those of the catalogue. */
import { isError } from "../checks/realm.ts";
import { catalogue } from "./catalogue.ts";
import type { Entry, Outcome } from "./entry.ts";
import { cleaned, shownCause } from "../secrets/redact.ts";

export {
  absentFrom,
  at as placeWords,
  byteCount,
  count,
  formatNumber,
  someOf,
  type MigrationsPlace,
  type Outcome,
  type StepPlace,
} from "./entry.ts";

type Catalogue = typeof catalogue;
export type ErrorCode = keyof Catalogue;
export type ErrorDetails<Code extends ErrorCode> = Parameters<Catalogue[Code]["sentence"]>[0];

// A brand instead of `instanceof`: a migration file may load a second copy of this package.
const brand = Symbol.for("lance-migrate.error");

/**
 * The only error class. Callers branch on `code`; `details` holds the values that the sentence was built from. Neither
 * the error nor its causes contain a secret that is known when the error is created.
 */
export class MigrateError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "MigrateError";
  readonly code: Code;
  readonly details: ErrorDetails<Code>;
  readonly outcome: Outcome;

  constructor(code: Code, details: ErrorDetails<Code>, options?: ErrorOptions) {
    // The catalogue ties code and details together; TypeScript can't follow that through an indexed union.
    const entry = catalogue[code] as unknown as Entry<ErrorDetails<Code>>;
    // Sentence and details are cleaned in one call, because each call reads the secrets from the environment.
    const shown = cleaned({ sentence: entry.sentence(details), details });
    super(shown.sentence, options?.cause === undefined ? undefined : { cause: shownCause(options.cause) });
    this.code = code;
    this.details = shown.details;
    this.outcome = entry.outcome;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Whether a thrown value is a MigrateError and, if `code` is given, has that code. */
export function isMigrateError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is MigrateError<Code> {
  if (typeof error !== "object" || error === null || !(brand in error)) return false;
  return code === undefined || ("code" in error && error.code === code);
}

/** Whether a run has stopped at a safe point, from where the next one resumes: it was interrupted, or has reached a limit. */
export function isInterruption(error: unknown): error is MigrateError {
  return isMigrateError(error) && error.outcome === "interrupted";
}

/** The MigrateError that `work` throws; undefined if it throws nothing. Other errors are thrown on. */
export function problemIn(work: () => unknown): MigrateError | undefined {
  return catchMigrateError(
    () => void work(),
    (error) => error,
  ) as MigrateError | undefined;
}

/** The result of `work`, or what `instead` returns for a MigrateError. All other errors are thrown. */
export function catchMigrateError<Result, Other>(
  work: () => Result,
  instead: (error: MigrateError) => Other,
): Result | Other {
  try {
    return work();
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return instead(error);
  }
}

/**
 * The first non-blank line of a thrown value's message. Engines put stacks and Rust source locations on the other
 * lines.
 */
export function firstLine(thrown: unknown): string {
  const text = isError(thrown) ? thrown.message : typeof thrown === "string" ? thrown : "";
  const line = text.split("\n").find((line) => line.trim() !== "");
  return line?.trim() ?? "what was thrown has no message";
}

/** The cause of the cause, and so on: that of `fetch failed` states which host was not found. */
export function innermost(thrown: unknown): unknown {
  let at = thrown;
  while (isError(at) && isError(at.cause)) at = at.cause;
  return isError(at) && "errors" in at && Array.isArray(at.errors) ? at.errors[0] : at;
}

/** The first line, and that of the innermost cause, if it states something else. */
export function linesWithCause(thrown: unknown): string {
  const [line, inner] = [firstLine(thrown), innermost(thrown)];
  const cause = inner === thrown ? "" : firstLine(inner);
  return line.includes(cause) ? line : `${line}: ${cause}`;
}

/** The text before the first match of a marker, without the comma or white space between them. */
export function textBefore(text: string, marker: RegExp): string {
  const at = text.search(marker);
  if (at === -1) return text;
  const before = text.slice(0, at).trimEnd();
  return before.endsWith(",") ? before.slice(0, -1) : before;
}

/**
 * Why a file can't be read or written, without its path. Node's message contains both: "EISDIR: illegal operation on a
 * directory, rename '…' -> '…'".
 */
export function fileReason(error: unknown): string {
  return firstLine(error).split(/, \w+ '|, \w+$/)[0]!;
}

/** The error of a command that was interrupted before it changed a table. `begun`: what other runs have begun. */
export function interruptedEarly(begun = ""): MigrateError {
  const others = begun === "" ? "" : `, but another run may have left ${begun} half-done`;
  return new MigrateError("ERR_INTERRUPTED", { done: `this run changed no table${others}; run it again` });
}
