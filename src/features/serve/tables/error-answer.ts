/** Turns errors into a status, a code of the namespace protocol and a sentence that reveals nothing internal. */
import { engineProblem, isConflict, isEngineError, isFileFailure } from "../../../engine/problem/engine-problem.ts";
import { isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import { WriteRefused } from "../../../engine/checked-writes.ts";

/** Codes of the Lance namespace protocol. */
export const codes = {
  unsupported: 0,
  namespaceNotFound: 1,
  tableNotFound: 4,
  tableExists: 5,
  indexNotFound: 6,
  tagNotFound: 8,
  tagExists: 9,
  versionNotFound: 11,
  columnNotFound: 12,
  invalidInput: 13,
  concurrentModification: 14,
  unauthenticated: 16,
  unavailable: 17,
  internal: 18,
} as const;

export interface Problem {
  readonly status: number;
  readonly code: number;
  readonly error: string;
}

export function refuse(status: number, code: keyof typeof codes, problem: string): MigrateError<"ERR_REQUEST"> {
  return new MigrateError("ERR_REQUEST", { status, code: codes[code], problem });
}

export const invalidInput = (problem: string) => refuse(400, "invalidInput", problem);
export const unsupported = (what: string) => refuse(501, "unsupported", `this service has no ${what}`);
export const tableNotFound = (name: string) => refuse(404, "tableNotFound", `Table '${name}' was not found`);
const tooManyChanges = "others' changes of this table came first each time; try again";
export const tableExists = (name: string) => refuse(400, "tableExists", `Table '${name}' already exists`);
export const tableLeft = (name: string) =>
  refuse(
    400,
    "tableExists",
    `the folder of table '${name}' has files but no table: a drop did not end, or another program is creating it; if no program is doing either, the operator of this service must remove that folder`,
  );
export const keptInLog = (name: string) =>
  refuse(
    501,
    "unsupported",
    `this service does not write to table '${name}', whose rows the engine keeps in a log (setLsmWriteSpec); the operator of this service can move them into the table`,
  );

/** `folder` is where the tables are. It is kept out of answers. */
export function problemOfError(thrown: unknown, folder: string): Problem {
  const problem = fullProblem(thrown, folder);
  return { ...problem, error: clipped(problem.error.replace(/[\r\n]+/g, " ")) };
}

/** In characters: messages repeat names of requests, which may be long. */
const longestError = 600;

function clipped(text: string): string {
  return text.length <= longestError ? text : `${text.slice(0, longestError - 200)} … ${text.slice(-190)}`;
}

function fullProblem(thrown: unknown, folder: string): Problem {
  if (isMigrateError(thrown, "ERR_REQUEST")) {
    const { status, code, problem } = thrown.details;
    return { status, code, error: problem };
  }
  if (isMigrateError(thrown)) {
    const code = thrown.code === "ERR_COLUMN_MISSING" ? codes.columnNotFound : codes.invalidInput;
    return { status: 400, code, error: thrown.message };
  }
  if (thrown instanceof WriteRefused) return { status: 400, code: codes.invalidInput, error: thrown.message };
  if (isEngineError(thrown)) return engineProblemOf(thrown, folder);
  return webProblemOf(thrown);
}

// Only what is missing in the path gets 404: the official client takes every 404 for a missing table. How a text begins
// decides, since names and values of a request follow.
const engineProblems: readonly (readonly [RegExp, number, keyof typeof codes])[] = [
  [/^Table '.*' was not found/, 404, "tableNotFound"],
  [/^Table '.*' already exists/, 400, "tableExists"],
  [/^version \S+ does not exist/i, 400, "versionNotFound"],
  [/^tag \S+ already exists/, 400, "tagExists"],
  [/^tag \S+ does not exist/, 400, "tagNotFound"],
  [/^(Lance )?index not found/i, 404, "indexNotFound"],
  [
    /^(Column|Field|FTS field) .*(does not exist|not found)|^No field named|^Merge insert key column/i,
    400,
    "columnNotFound",
  ],
];

const internal = "the service could not do this; its operator finds more under this request's id";

/** The only internal problem that clients learn: retries succeed only once it is solved. */
const diskFull: Problem = { status: 507, code: codes.internal, error: "the service has no space left for this" };

function isFull(thrown: unknown): boolean {
  return (
    (thrown as { code?: unknown } | null)?.code === "ENOSPC" ||
    (isFileFailure(thrown) && /No space left on device \(os error 28\)/.test(String(thrown)))
  );
}

function engineProblemOf(thrown: unknown, folder: string): Problem {
  const error = clean(engineProblem(thrown), folder);
  if (isConflict(thrown)) return { status: 409, code: codes.concurrentModification, error: tooManyChanges };
  const known = engineProblems.find(([pattern]) => pattern.test(error));
  if (known !== undefined) return { status: known[1], code: codes[known[2]], error };
  if (isFull(thrown)) return diskFull;
  // The engine also reports as a problem of its files what it fails at in SQL.
  const isOfSql = /caused by a bug in DataFusion/.test(withoutQuoted(String(thrown)));
  if (!isOfSql && isFileFailure(thrown)) return { status: 500, code: codes.internal, error: internal };
  // A panic of Rust has its own quotes: called `Option::unwrap()` on a `None` value
  const isPanic =
    /^called `\w+::\w+\(\)` on /.test(error) || /panic|unreachable|assertion failed/i.test(withoutQuoted(error));
  if (isOfSql || isPanic)
    return {
      status: 400,
      code: codes.invalidInput,
      error: "the engine gave up on this request; check types and values",
    };
  return { status: 400, code: codes.invalidInput, error };
}

/** Between quotes are values and SQL, which may look like any problem. */
function withoutQuoted(text: string): string {
  return text.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "''");
}

function clean(text: string, folder: string): string {
  return withoutFolder(text, folder)
    .replace(/^(Failed to [\w ]+: )?(GenericFailure, )?(lance error: )?(Invalid input, )?(Invalid user input: )?/, "")
    .replace(/^(Ref (not found|conflict|is invalid)( error)?|Version not found error|LanceError\(\w+\)): /, "")
    .replace(/version main:(\d+)/, "version $1")
    .replace(/:? Schema \{[^]*/, "")
    .slice(0, 500)
    .trim();
}

/** The engine's texts contain the folder's path, also without its first slash: then a `/data` looks like any word. */
export function withoutFolder(text: string, folder: string): string {
  return text.replaceAll(folder, "").replaceAll(`${folder.slice(1)}/`, "/");
}

const webProblems: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "the body is too large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "the content-type is not one that this route takes",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "the body is not as long as content-length states",
  FST_ERR_BAD_URL: "the path is not well-formed",
};

/** Problems that the web framework itself reports. */
function webProblemOf(thrown: unknown): Problem {
  if (isFull(thrown)) return diskFull;
  const { statusCode, code } = thrown as { readonly statusCode?: unknown; readonly code?: unknown };
  const status = typeof statusCode === "number" && statusCode >= 400 && statusCode < 500 ? statusCode : 500;
  if (status === 500) return { status, code: codes.internal, error: internal };
  return { status, code: codes.invalidInput, error: webProblems[String(code)] ?? "the request is not well-formed" };
}
