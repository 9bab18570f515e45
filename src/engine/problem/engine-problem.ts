/** The meaning of the engine's errors, which the binding gives as text alone, and their words for users. */
import { isError } from "../../checks/realm.ts";
import { textBefore } from "../../errors/migrate-error.ts";
import { withoutKnownSecrets } from "../../secrets/redact.ts";
import { withoutDebugText } from "./debug-text.ts";
import { storeProblem, type StoreProblem } from "./store-problem.ts";

/** Whether the engine threw the error: its errors carry napi's status as their code. */
export function isEngineError(thrown: unknown): boolean {
  const code = isError(thrown) && "code" in thrown ? thrown.code : undefined;
  return (
    code === "GenericFailure" ||
    code === "InvalidArg" ||
    /^(String|Number|Array|Object|Boolean|Bigint)Expected$/.test(String(code))
  );
}

/** Whether a table can't be read because some of its rows have no column left in their files. */
export function isUnreadable(thrown: unknown): boolean {
  return /Fragment \d+ does not contain any data/.test(String(thrown));
}

/**
 * A part of the engine that has passed an error on. What follows these parts is the kind of the error; texts further
 * behind repeat names, values and SQL, which may look like any kind.
 */
const passedOn =
  /^(Failed to [a-z ]+|lance error|LanceError\(\w+\)|GenericFailure|Wrapped error|External error|External|Query Execution error|Execution error|Arrow error|Generic N\/A error)[:,] /i;

/** The parts that have passed an error on, and what they have passed on. */
function partsOf(thrown: unknown): readonly [passed: string, text: string] {
  const message = isError(thrown) ? thrown.message : String(thrown);
  let text = message;
  for (let part = passedOn.exec(text); part !== null; part = passedOn.exec(text)) text = text.slice(part[0].length);
  return [message.slice(0, message.length - text.length), text];
}

/**
 * The engine retries after a conflict by itself; it reports the first pattern (without "Retryable") and the last one after
 * other commits came first at every try.
 */
const conflict =
  /^((Retryable commit|Commit) conflict for version \d+|Incompatible transaction|This \w+ transaction was preempted by|Too many concurrent writers)\b/i;

/** Whether another commit came first. The same call on a fresh handle may succeed. */
export function isConflict(thrown: unknown): boolean {
  return conflict.test(partsOf(thrown)[1]);
}

/** Whether the engine could not read or write a file, or reports a fault of its own. */
export function isFileFailure(thrown: unknown): boolean {
  const [passed, text] = partsOf(thrown);
  return (
    passed.includes("LanceError(IO)") ||
    /^(Not found: \S*\/|Permission denied|Io error: |Generic \w+ error: |Encountered internal error)/i.test(text)
  );
}

/** Whether the engine states that what should be created exists. The second text is that of a branch. */
export function isTaken(thrown: unknown): boolean {
  return /already exists|Clone operation should not enter build_manifest/.test(String(thrown));
}

/** The engine's message for users: without source locations, and without the credentials of an object store. */
export function engineProblem(thrown: unknown): string {
  // This message lists everything that the engine has asked, as Rust prints it.
  if (String(thrown).includes("Failed to get AWS credentials"))
    return "no AWS credentials were found; set aws_access_key_id and aws_secret_access_key in storageOptions, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  const store = storeProblemOf(thrown);
  if (store !== undefined) return store.sentence;
  const plain = plainProblem(thrown);
  const shorter = tooLong.reduce((text, [pattern, words]) => text.replace(pattern, words), plain);
  return withoutKnownSecrets(withoutDebugText(shorter));
}

/** The problem of a request to an object store, for users; undefined if the error is about something else. */
export function storeProblemOf(thrown: unknown): StoreProblem | undefined {
  if (isError(thrown) && "code" in thrown && thrown.code === "StoreConflict")
    return { sentence: thrown.message, outcome: "conflict" };
  // Secrets are removed first: part of one that is shortened would not be recognized.
  return isEngineError(thrown) ? storeProblem(withoutKnownSecrets(String(thrown))) : undefined;
}

const ofDataFile = "put it back from a backup, or restore an older version of the table with LanceDB's client";

/**
 * Parts of messages that describe the engine instead of the SQL it was given, or that give advice that does not apply;
 * each with its replacement.
 */
const tooLong: readonly (readonly [RegExp, string])[] = [
  [/ ?Column names are case sensitive\..*?enable_ident_normalization configuration\./, ""],
  [/Error parsing statement: SELECT .* \(sql parser error: (.*)\)$/, "the SQL can't be read: $1"],
  [
    /.*Physical plan does not support logical expression (Aggregate|Window)Function.*/,
    "an aggregate such as sum or a window function such as row_number can't stand here",
  ],
  [
    /.*Found unmasked nulls for non-nullable StructArray field ("[^"]*").*/,
    "rows that were deleted or updated since have left nulls of $1 in the table's files, and the engine reads them too: compact the table first (optimize)",
  ],
  [
    /^.*Invalid range (\d+)\.\.(\d+) for object of size (\d+) bytes.*/,
    `a file of the table has $3 bytes, and bytes $1 to $2 are needed: it was cut, or the store has answered wrongly; ${ofDataFile}`,
  ],
  [/^.*not appear to be a Lance file.*/, `a file of the table was overwritten or cut; ${ofDataFile}`],
  [/ in schema Field\(.*/, ""],
  [/Unsupported data type: \w+\(.*\)\. /, "Unsupported data type. "],
  [/\.? {0,2}Received only dynamic expressions: .*/, "; an expression of constants alone is not enough"],
  [/^.*Invalid data for schema\. Field \{.*/, "the Arrow data has fewer columns than its schema"],
  [/^.*Unable to get root as footer: Utf8Error.*/, "a text in the schema of the Arrow data is not UTF-8"],
  [/^.*Unable to get root as footer.*/, "the schema of the Arrow data is not well-formed"],
  [
    /^Unable to find object store prefix: no Azure account name.*/,
    "no Azure account was given; set azure_storage_account_name in storageOptions",
  ],
  [/^Failed to connect to namespace: IO \{ source: Generic \{ store: "[^"]*", source: /, ""],
  // Of the fields that it lists, these are the engine's own.
  [/, _rowid, _rowaddr.*/, ""],
  // Another part of a sentence may follow.
  [/\. Did you mean ('[^']*'\?)/, " (did you mean $1)"],
  [/\.$/, ""],
];

/** What comes before the message itself: which part of the engine has noticed the problem. */
const leading =
  /^((Failed to execute query stream|GenericFailure|Invalid input|Invalid user input|Error parsing function|Error during planning|Schema error)[:,] )+/;

/** In characters: patterns take long on a message that repeats a name of a hundred thousand. */
const longestProblem = 8_000;

function clipped(text: string): string {
  return text.length <= longestProblem ? text : `${text.slice(0, 6_000)} … ${text.slice(-2_000)}`;
}

/** The first line of the engine's own message, without source locations and prefixes: for decisions, not for users. */
export function plainProblem(thrown: unknown): string {
  const text = isError(thrown) ? thrown.message : String(thrown);
  // The second line suggests a function, and another one each time.
  const line = text.split("\n", 1)[0] ?? "";
  return textBefore(clipped(line), /Caused by: |location: Location/)
    .replace(/, (location: )?\/[^,]*\.rs:\d+(:\d+)?/g, "")
    .replace(/(GenericFailure, )?lance error: /g, "")
    .replace(/LanceError\((\w+)\): /g, "")
    .replace(/(Generic N\/A error|Wrapped error|GenericFailure, External error): /g, "")
    .replace(leading, "")
    .trim();
}
