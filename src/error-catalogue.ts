/**
 * The catalogue of errors. A new error is one line of it: its outcome (which decides the exit code), its code and its
 * sentence. The sentence names the thing, the place and, where there is one, the way out.
 */
/** What an error means to the caller of `migrate`; the exit code follows from it (cli/exit-code.ts). */
export type Outcome = "failed" | "usage" | "refused" | "locked" | "unreachable" | "interrupted";

export interface Entry<Details> {
  readonly outcome: Outcome;
  readonly sentence: (details: Details) => string;
}

const as =
  (outcome: Outcome) =>
  <Details>(sentence: (details: Details) => string): Entry<Details> => ({ outcome, sentence });

const failed = as("failed");
const usage = as("usage");
const refused = as("refused");
const locked = as("locked");
const unreachable = as("unreachable");
const interrupted = as("interrupted");

/** Where a step stands, for messages: "0003_widen.ts, step 2 (retypeColumn)". */
export interface StepPlace {
  readonly file: string;
  /** Counted from 1, in `up`, or in what is said instead. */
  readonly step: number;
  readonly of?: "down" | undefined;
  readonly kind?: string | undefined;
}

/** "1 migration", "3 migrations". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function at(place: StepPlace): string {
  const of = place.of === undefined ? "" : ` of ${place.of}`;
  return `${place.file}, step ${place.step}${of}${place.kind === undefined ? "" : ` (${place.kind})`}`;
}

export const catalogue = {
  // usage and configuration
  ERR_USAGE: usage((d: { problem: string }) => d.problem),
  ERR_CONFIG_MISSING: usage((d: { file: string }) => `there is no configuration file ${d.file}; check --config`),
  ERR_CONFIG_UNREADABLE: usage(
    (d: { file: string; problem: string }) => `${d.file} can't be loaded: ${d.problem}; run it with Node to see where`,
  ),
  ERR_CONFIG_INVALID: usage((d: { file: string; problem: string }) => `${d.file}: ${d.problem}`),
  ERR_TARGET_UNKNOWN: usage(
    (d: { name: string; known: readonly string[] }) =>
      `there is no target ${JSON.stringify(d.name)} in the configuration; it has ${d.known.join(", ") || "none"}`,
  ),
  ERR_MIGRATIONS_FOLDER: usage(
    (d: { folder: string; problem: string }) =>
      `the migrations folder ${d.folder} ${d.problem}; set "migrations" in migrate.config.ts or run migrate new`,
  ),
  ERR_NAME_INVALID: usage(
    (d: { name: string }) =>
      `${JSON.stringify(d.name)} is no name for a migration; use letters, digits, "_" and "-", such as add_headlines`,
  ),
  ERR_TEMPLATE_MISSING: usage(
    (d: { file: string }) => `the template ${d.file} is missing; put it back or reinstall lance-migrate`,
  ),
  ERR_TEMPLATE_INVALID: usage((d: { file: string; problem: string }) => `the template ${d.file} ${d.problem}`),
  ERR_FILE_EXISTS: usage((d: { file: string }) => `${d.file} exists already; choose another name`),

  ERR_UNCAUGHT: failed(
    (d: { problem: string }) =>
      `something failed that nothing waits for: ${d.problem}; ` +
      `where a migration or the configuration started it, await it there (--verbose shows where)`,
  ),

  // migration files
  ERR_FILE_NAME: refused(
    (d: { file: string }) =>
      `${d.file} is no name for a migration file; it has to look like 0001_create_documents.ts (also .js, .mts, .mjs)`,
  ),
  ERR_VERSION_DUPLICATE: refused(
    (d: { version: string; files: readonly string[] }) =>
      `${d.files.join(" and ")} have the same number ${d.version}; give one of them another`,
  ),
  ERR_FILE_UNREADABLE: refused((d: { file: string; problem: string }) => `${d.file} can't be loaded: ${d.problem}`),
  ERR_FILE_EXPORTS: refused(
    (d: { file: string; problem: string }) =>
      `${d.file} ${d.problem}; a migration has to export its steps as: export const up = [ … ]`,
  ),
  ERR_STEP_INVALID: refused((d: StepPlace & { problem: string }) => `${at(d)}: ${d.problem}`),

  // the fold: what a step can't do
  ERR_TABLE_MISSING: refused(
    (d: { table: string; similar?: string | undefined }) =>
      `no migration before this creates a table ${d.table}${d.similar === undefined ? "" : `; did you mean ${d.similar}?`}`,
  ),
  ERR_TABLE_EXISTS: refused((d: { table: string }) => `table ${d.table} exists already at this point`),
  ERR_TABLE_NAME: refused(
    (d: { table: string; problem: string }) => `table name ${JSON.stringify(d.table)} ${d.problem}`,
  ),
  ERR_COLUMN_NAME: refused(
    (d: { name: string; problem: string }) => `column name ${JSON.stringify(d.name)} ${d.problem}`,
  ),
  ERR_COLUMN_MISSING: refused(
    (d: { table: string; path: string; has: readonly string[] }) =>
      `${d.table} has no column ${d.path} at this point; it has ${d.has.join(", ") || "none inside"}`,
  ),
  ERR_COLUMN_DUPLICATE: refused((d: { table: string; name: string; other: string }) =>
    d.name === d.other
      ? `${d.table} would have two columns named ${d.name}`
      : `${d.table} would have ${d.other} and ${d.name}, which differ only in case`,
  ),
  ERR_PATH_INVALID: refused(
    (d: { path: string; problem: string }) => `column path ${JSON.stringify(d.path)} ${d.problem}`,
  ),
  ERR_CAST_REFUSED: refused(
    (d: { column: string; from: string; to: string; hint: string }) =>
      `the engine can't cast ${d.column} from ${d.from} to ${d.to}; ${d.hint}`,
  ),
  ERR_ALTERATION_CONFLICT: refused((d: { table: string; problem: string }) => `${d.table}: ${d.problem}`),
  ERR_INDEX: refused(
    (d: { table: string; name: string; problem: string }) => `index ${d.name} of ${d.table} ${d.problem}`,
  ),
  ERR_ROWS: refused((d: { table: string; problem: string }) => `rows of ${d.table}: ${d.problem}`),
  ERR_NO_EFFECT: refused((d: { problem: string }) => `${d.problem}; remove the step`),
  ERR_STEP_IMPOSSIBLE: refused((d: StepPlace & { problem: string }) => `${at(d)}: ${d.problem}`),
  ERR_UNSUPPORTED: refused(
    (d: StepPlace & { target: string; reason: string }) => `${at(d)}: target ${d.target} can't do this: ${d.reason}`,
  ),

  // taking back
  ERR_CONSENT: refused(
    (d: StepPlace & { consent: string; loss: string }) =>
      `${at(d)} needs consent: ${d.loss}${d.consent === "lossy" ? "" : ", and nothing brings that back"}; write export const accepts = ["${d.consent}"] into the file, or pass --accept ${d.consent}`,
  ),
  ERR_FORBIDDEN: refused(
    (d: StepPlace & { target: string; class: string; problem: string }) =>
      `${at(d)} is forbidden on target ${d.target}, whose configuration allows no step of rollback class ${d.class}: ${d.problem}`,
  ),
  ERR_IRREVERSIBLE: refused(
    (d: StepPlace & { problem: string; hint?: string | undefined }) =>
      `${at(d)} can't be taken back: ${d.problem}${d.hint === undefined ? "" : `; ${d.hint}`}`,
  ),
  ERR_ROLLBACK_CHANGED: refused(
    (d: { file: string }) =>
      `${d.file} is being taken back, and by other actions than this release or this file would; put the file back, or run migrate down of the release that began it`,
  ),
  ERR_ROLLBACK_BLOCKED: refused(
    (d: { problems: readonly string[]; hint: string }) => `rows stand in the way: ${d.problems.join("; ")}; ${d.hint}`,
  ),
  ERR_BACK_ORDER: refused(
    (d: { later: string; earlier: string; steps: number }) =>
      `${d.later} ran after ${d.earlier}, so it has to be taken back before it: migrate down --steps ${d.steps}`,
  ),
  ERR_UNSETTLED: refused(
    (d: { version: string }) =>
      `${d.version} may have run further than is recorded; run migrate up first, which finds out and goes on`,
  ),
  ERR_REVERTING: refused(
    (d: { version: string }) => `${d.version} is being taken back and that did not end; run migrate down to finish it`,
  ),

  // history
  ERR_MIGRATION_CHANGED: refused((d: { file: string; change: string; begun?: boolean | undefined }) =>
    d.begun === true
      ? `${d.file} was changed after it had begun: ${d.change}; put that back; the steps after it may be changed`
      : `${d.file} was changed after it was applied: ${d.change}; restore it and put the change in a new migration`,
  ),
  ERR_MIGRATION_MISSING: refused(
    (d: { version: string; name: string; begun?: boolean | undefined }) =>
      `${d.version}_${d.name} ${d.begun === true ? "has begun and did not end" : "was applied"}, but its file is missing; restore it, or deploy a release that has it`,
  ),
  ERR_OUT_OF_ORDER: refused(
    (d: { file: string; last: string }) =>
      `${d.file} is pending, but ${d.last} with a higher number has already run; renumber it, or pass --allow-out-of-order`,
  ),
  ERR_BEGUN: refused((d: { version: string; file?: string | undefined }) =>
    d.file === undefined
      ? `${d.version} has begun and did not end, and its file is not here; put it back, or deploy the release that has it`
      : `${d.file} has begun and did not end, so it has to be finished first; leave out --to, or go up to ${d.version}`,
  ),
  ERR_DRIFT: refused(
    (d: { table: string; differences: readonly string[]; hint: string }) =>
      `table ${d.table} is not as the ledger says: ${d.differences.join("; ")}; ${d.hint}`,
  ),
  ERR_VERSION_UNKNOWN: usage(
    (d: { version: string; known: string }) => `--to ${d.version}: there is no such migration; ${d.known}`,
  ),
  ERR_LEDGER_UNREADABLE: refused(
    (d: { ledger: string; problem: string }) => `the ledger ${d.ledger} can't be read: ${d.problem}`,
  ),

  ERR_LEDGER_CHANGED: refused(
    (d: { problem: string }) =>
      `the ledger was changed by something else than this tool: ${d.problem}; see migrate verify --ledger, and mend it with migrate repair`,
  ),

  // repair
  ERR_REPAIR_NO_PLACE: refused(
    (d: { nearest: string; differences: readonly string[]; hint: string; problem?: string | undefined }) =>
      `at no place in the history of the migration files were all tables as they are; nearest is ${d.nearest}, and there ` +
      `${d.differences.join("; ")}; ${d.hint}, then run migrate repair again` +
      (d.problem === undefined ? "" : `; history ends early: ${d.problem}`),
  ),
  ERR_REPAIR_AMBIGUOUS: refused(
    (d: { places: readonly string[]; choices: readonly string[] }) =>
      `the tables are as they were ${d.places.join(" and ")}, and nobody can tell which; ` +
      `choose with --to ${d.choices.join(" or --to ")}`,
  ),
  ERR_REPAIR_PLACE: refused(
    (d: { choice: string; places: readonly string[] }) =>
      `--to ${d.choice}: the tables are not as they were there; they are as they were ${d.places.join(" and ")}`,
  ),
  ERR_REPAIR_BLIND: refused(
    (d: { target: string; problem: string }) =>
      `target ${d.target} can't describe its tables, so its ledger can't be rebuilt from them: ${d.problem}`,
  ),

  // running
  ERR_TABLE_CHANGED: failed(
    (d: StepPlace & { table: string; differences: readonly string[] }) =>
      `${at(d)}: table ${d.table} was changed while this run went on: ${d.differences.join("; ")}; put it back, then run it again`,
  ),
  ERR_LEDGER_UNWRITABLE: failed(
    (d: { ledger: string; problem: string }) =>
      `the ledger ${d.ledger} can't be written: ${d.problem}; mend the cause and run it again, it finds out how far this run got`,
  ),
  ERR_STEP_FAILED: failed(
    (d: StepPlace & { problem: string; direction: "up" | "down"; done: number; total: number; applied: number }) => {
      const [of, applied, mend] =
        d.direction === "up"
          ? ["of this migration", "applied", "the cause, or the steps that have not run,"]
          : ["that take this migration back", "taken back", "the cause"];
      return (
        `${at(d)} failed: ${d.problem}; ${d.done} of ${count(d.total, "action")} ${of} done, ` +
        `${count(d.applied, "migration")} ${applied} before it in this run; mend ${mend} and run migrate ${d.direction} again`
      );
    },
  ),
  ERR_UNEXPECTED_RESULT: failed(
    (d: StepPlace & { table: string; differences: readonly string[] }) =>
      `${at(d)} left table ${d.table} in an unexpected state: ${d.differences.join("; ")}`,
  ),
  ERR_ACTED_LATE: failed(
    (d: { version: string; name: string; action: number }) =>
      `${d.version}_${d.name}: this run was stopped in action ${d.action}, and another one may have taken over before it went on; ` +
      `run it again, it looks at that table first`,
  ),
  ERR_LEASE_HELD: locked(
    (d: { by: string }) => `${d.by} holds the lease and is at work; try again later, or wait longer with --wait`,
  ),
  ERR_LEASE_LOST: locked((d: { by: string }) => `${d.by} took the lease over while this run was stopped; run it again`),
  ERR_LEASE_SHORT: locked(
    (d: { seconds: number }) =>
      `the target takes longer to write to the ledger than a lease of ${count(d.seconds, "second")} lasts; use a longer one (--lease, leaseSeconds)`,
  ),
  ERR_TARGET_UNREACHABLE: unreachable(
    (d: { target: string; problem: string }) => `target ${d.target} can't be reached: ${d.problem}`,
  ),
  ERR_CREDENTIALS: unreachable(
    (d: { target: string; request: string; status: number; problem: string }) =>
      `target ${d.target} refuses the credentials for ${d.request} (${d.status}): ${d.problem}; ` +
      (d.status === 403 ? "its key has to be allowed to do this" : "check apiKey or MIGRATE_API_KEY"),
  ),
  ERR_ANSWER: unreachable(
    (d: {
      target: string;
      request: string;
      status: number;
      problem: string;
      conflict?: boolean | undefined;
      pause?: number | undefined;
    }) => `target ${d.target} answered ${d.request} with ${d.status}: ${d.problem}`,
  ),
  ERR_INTERRUPTED: interrupted((d: { done: string }) => `interrupted; ${d.done}`),
  ERR_TIMEOUT: interrupted(
    (d: { seconds: number; done: string }) => `not done within ${d.seconds} s (--timeout); ${d.done}`,
  ),

  // the service
  ERR_SERVICE_DATA: usage(
    (d: { folder: string; problem: string }) => `the data folder ${d.folder} ${d.problem}; choose another with --data`,
  ),
  ERR_SERVICE_ADDRESS: usage(
    (d: { host: string; port: number; problem: string }) =>
      `the service can't listen on ${d.host}, port ${d.port}: ${d.problem}; choose others with --host and --port`,
  ),
  ERR_REQUEST: refused((d: { status: number; code: number; problem: string }) => d.problem),
  ERR_ARROW_INVALID: refused((d: { problem: string }) => `the Arrow data ${d.problem}`),
} as const;
