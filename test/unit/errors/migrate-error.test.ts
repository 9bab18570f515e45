import { cpSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import {
  firstLine,
  linesWithCause,
  isMigrateError,
  MigrateError,
  type ErrorCode,
  type ErrorDetails,
} from "../../../src/errors/migrate-error.ts";
import { root, temporaryFolder } from "../../support/project.ts";

const file = "0003_widen_ids.ts";
const place = { file, step: 2, kind: "retypeColumn" };
const problem = "the disk is full";
const install = "npm install fastify@5";
const differences = ["column id is int64 instead of int32", "column title is missing"];

/** Details as they come for every error there is; the compiler says when one is missing. */
const samples: { readonly [Code in ErrorCode]: ErrorDetails<Code> } = {
  ERR_USAGE: { problem: "--to is given twice" },
  ERR_CONFIG_MISSING: { file: "other.config.ts" },
  ERR_PROJECT_MISSING: { folder: "/app", config: "migrate.config.ts", database: ".lancedb" },
  ERR_CONFIG_UNREADABLE: { file: "migrate.config.ts", problem },
  ERR_CONFIG_INVALID: { file: "migrate.config.ts", problem: "there is no setting ledgr" },
  ERR_TARGET_UNKNOWN: { name: "prod", known: [] },
  ERR_DATABASE_UNKNOWN: { name: "acne", target: "tenants", count: 12, similar: "acme" },
  ERR_DATABASE_NEEDED: { target: "tenants" },
  ERR_DATABASE_MISSING: { target: "production", place: "s3://tables/prod" },
  ERR_MIGRATIONS_FOLDER: { folder: "/app/migrations", problem: "does not exist" },
  ERR_NAME_INVALID: { name: "a/b" },
  ERR_SCHEMA_MISSING: { file: "schema.ts" },
  ERR_SCHEMA_INVALID: { file: "schema.ts", problem: "documents.id must be a type such as int64() or utf8()" },
  ERR_DIFF_UNSURE: { questions: ["d.a is gone and d.b new; answer with --rename d.a:b, or --drop-column d.a"] },
  ERR_DIFF_IMPOSSIBLE: { problems: ["d.a can't be made utf8 from int32"] },
  ERR_NOTATION: { flag: "rename", text: "a", problem: 'expected ":" at its end', form: "TABLE.COLUMN:NAME" },
  ERR_TEMPLATE_MISSING: { file: "templates/migration.ts" },
  ERR_TEMPLATE_INVALID: { file: "templates/migration.ts", problem: "has no steps" },
  ERR_UNFINISHED: { check: "migrate status" },
  ERR_HOOK_REFUSED: { hook: "beforeRun", problem, direction: "up", ended: [] },
  ERR_HOOK_FAILED: {
    hook: "afterMigration",
    migration: "0003_widen",
    problem,
    direction: "down",
    ended: ["0004_views", "0003_widen"],
    left: 0,
  },
  ERR_FORMAT: { problem: "prettier --write ended with 2: [error] no parser could be inferred" },
  ERR_FILE_EXISTS: { file },
  ERR_ENGINE_MISSING: { package: "engine", install },
  ERR_ENGINE_VERSION: {
    package: "engine",
    version: "0.38.0",
    folder: "node_modules",
    unmet: problem,
    install,
  },
  ERR_ENGINE_UNLOADABLE: { package: "engine", platform: "linux-x64", problem },
  ERR_PACKAGES_MISSING: { use: "migrate serve", packages: ["fastify"], install },
  ERR_FILE_NAME: { file: "widen.ts" },
  ERR_VERSION_DUPLICATE: { version: "0003", files: [file, "0003_other.ts"] },
  ERR_FILE_UNREADABLE: { file, problem },
  ERR_FILE_EXPORTS: { file, problem: "exports no up", list: "up" },
  ERR_REPLACES: { file, problem: "0003_x is half-done here" },
  ERR_MOVED: { path: "documents.title", problem: "is gone: 0007_titles (drop documents.title)" },
  ERR_ORDER_MATTERS: { problem: "both work on the rows of documents" },
  ERR_REBASE: { migration: "0007_titles", problem: "0007_a.ts, step 1 (retypeColumn): documents.title is gone" },
  ERR_SQUASH: { problem: "there is only 0001_documents up to there" },
  ERR_BRANCH: { problem: "git knows no develop here" },
  ERR_TYPES_FOREIGN: { file: "src/db.ts" },
  ERR_TYPES_FILE: { file: "src/db.ts", problem: "can't be written: EACCES: permission denied" },
  ERR_BUNDLE_INVALID: {
    file: "migrations.bundle.json",
    problem: "was changed after it was made",
    hint: "make a new one with migrate build",
  },
  ERR_BUNDLE_FOREIGN: { file: "package.json" },
  ERR_REPORT_FOREIGN: { file: "report.html" },
  ERR_REPORT_FILE: { file: "report.html", problem: "can't be written: EACCES: permission denied" },
  ERR_BUNDLE_FILE: { file: "migrations.bundle.json", problem: "can't be written: ENOSPC: no space left on device" },
  ERR_LOCK_FILE: { file: "migrations/lock.json", problem: "can't be written: ENOSPC: no space left on device" },
  ERR_LOCK_STALE: { file: "migrations/lock.json", problem: "lacks 0003_wide_ids" },
  ERR_FILE_AFTER: { file, says: "0006", is: "0007", before: "0007_tags.ts" },
  ERR_STEP_INVALID: { file, step: 2, problem: "is not a step" },
  ERR_TABLE_MISSING: { table: "documnets" },
  ERR_TABLE_EXISTS: { table: "documents" },
  ERR_TABLE_NAME: { table: "a b", problem: "is empty" },
  ERR_COLUMN_NAME: { name: "a.b", problem: "holds a dot" },
  ERR_COLUMN_MISSING: { table: "documents", path: "titel", has: [] },
  ERR_COLUMN_DUPLICATE: { table: "documents", name: "Title", other: "title" },
  ERR_PATH_INVALID: { path: "a..b", problem: "has an empty part" },
  ERR_CAST_REFUSED: { column: "documents.id", from: "int32", to: "utf8", hint: "add a column" },
  ERR_ALTERATION_CONFLICT: { table: "documents", problem: "column a is altered twice" },
  ERR_INDEX: { table: "documents", name: "by_id", problem: "is there already" },
  ERR_ROWS: { table: "documents", problem: "row 2 has no code" },
  ERR_NO_EFFECT: { problem: "documents.id is int32 already" },
  ERR_STEP_WOULD_FAIL: { ...place, problem: "800 rows of documents.n can't become int8 now" },
  ERR_STEP_IMPOSSIBLE: { ...place, problem: "there is no table documents" },
  ERR_TARGET_UNFIT: { what: "target local", problem: "renames a column (it reports success, and has not done it)" },
  ERR_UNSUPPORTED: { file, step: 1, kind: undefined, target: "local", reason: "it can't rename" },
  ERR_IRREVERSIBLE: { ...place, problem: "documents.id is dropped with its values" },
  ERR_REHEARSAL: { target: "local", problems: ["0003_widen: rows of documents are other ones after down"] },
  ERR_REHEARSAL_BEGUN: { version: "0003_widen" },
  ERR_ROLLBACK_CHANGED: { file },
  ERR_ROLLBACK_STOPPED: {
    ...place,
    problems: ["1 row of documents.pages has a value, which the rollback drops"],
  },
  ERR_WRITES_LOST: {
    ...place,
    table: "documents",
    version: 7,
    problems: ["1 row of documents.n has a value, which the rollback drops"],
  },
  ERR_WRITES_UNKNOWN: {
    ...place,
    table: "documents",
    version: 7,
    problems: ["version 8 was cleaned up"],
  },
  ERR_VERSION_UNKEPT: { ...place, table: "documents", version: 7, problem: "no space left" },
  ERR_ROLLBACK_OTHER: { agreed: "0003_names", now: "0004_ids" },
  ERR_ROLLBACK_BLOCKED: { problems: ["1 row of documents.id is empty"], hint: "change these rows first" },
  ERR_CONSENT: { ...place, consent: "irreversible", loss: "documents.score is dropped with its values" },
  ERR_FORBIDDEN: { ...place, target: "local", class: "none", problem: "documents is dropped with its rows" },
  ERR_PLAN_INVALID: { file: "plan.json", problem: "is no saved plan" },
  ERR_PLAN_STALE: { changed: "files", problem: "0003_widen_ids.ts was changed", hint: "make a new one" },
  ERR_CONTRACT: {
    direction: "up",
    ...place,
    broken: ["search 1.4.0 reads documents.title, which is dropped"],
    sequence: ["Deploy a release that neither reads nor writes documents.title.", "Run this migration."],
  },
  ERR_CONTRACT_MISSING: { path: "contracts/production", target: "production" },
  ERR_CONTRACT_INVALID: { file: "contracts/search.json", problem: "is not JSON" },
  ERR_REWRITE: { ...place, target: "local", bytes: 512, limit: 64 },
  ERR_BACK_ORDER: {
    later: "0004_later",
    earlier: "0005_early",
    commands: ["migrate down --steps 2", "migrate up --to 4"],
    again: ["0004_later"],
  },
  ERR_UNSETTLED: { version: "0003_widen_ids" },
  ERR_REVERTING: { version: "0003_widen_ids" },
  ERR_MIGRATION_CHANGED: { file, change: "step 2 was added" },
  ERR_MIGRATION_MISSING: { version: "0003", name: "widen_ids" },
  ERR_RESOLVE: { problem: "it is another one" },
  ERR_RESOLVE_UNKNOWN: { choice: "--reverted 0006_y", where: "the ledger", there: "0006_x" },
  ERR_NUMBER_USED: { file: "0006_y.ts", version: 6, other: "0006_x", is: "is applied" },
  ERR_OUT_OF_ORDER: { file, last: "0004_later" },
  ERR_GROUP_CHANGED: { from: "0002_a", until: "0009_b" },
  ERR_GROUP_FAILED: {
    text: "rename t.a to b",
    problem,
    table: "t",
    migrations: "0002_a to 0003_c",
    from: "0002_a",
    until: "0009_b",
    done: 1,
    calls: 3,
    applied: 0,
  },
  ERR_DRIFT: { table: "documents", differences, hint: "put it back" },
  ERR_VERSION_UNKNOWN: { version: "0009", known: "from 0001_a to 0003_b" },
  ERR_ADOPT_REFUSED: { problem: "schema.ts exists already", hint: "rename it" },
  ERR_ADOPT_IMPOSSIBLE: { problems: ["column m of table d is of the type map"], hint: "leave it out" },
  ERR_ADOPT_PENDING: { migration: "0003_widen_ids", target: "local" },
  ERR_BASELINE_DIFFERS: { last: "0003_widen_ids", differences: ["table d: it does not exist"], hint: "run migrate up" },
  ERR_PUSH_REFUSED: { problem: "migrate.config.ts does not allow it on target local", hint: "set push: true" },
  ERR_PUSH_FAILED: { text: "create index v_idx on documents.v: btree", problem: "no space left", done: 1, total: 2 },
  ERR_BASELINE_BEGUN: { migration: "0003_widen_ids" },
  ERR_REPAIR_NO_PLACE: { nearest: "after 0003_widen_ids", differences, hint: "fix that by hand", problem },
  ERR_REPAIR_AMBIGUOUS: { places: ["before the first migration", "after 0003_widen_ids"], choices: ["start", "0003"] },
  ERR_REPAIR_PLACE: { choice: "0002", places: ["after 0003_widen_ids"] },
  ERR_REPAIR_BLIND: { target: "local", problem },
  ERR_LEDGER_CHANGED: { problem },
  ERR_LEDGER_LOST: { problem },
  ERR_LEDGER_UNREADABLE: { ledger: "_migrations", problem },
  ERR_LEDGER_UNWRITABLE: { ledger: "_migrations", problem },
  ERR_PREPARE_FAILED: { ...place, problem },
  ERR_RAY_FAILED: { problem },
  ERR_STEP_FAILED: {
    ...place,
    problem,
    direction: "up",
    done: 1,
    total: 3,
    applied: 2,
    left: ["t: index a is missing"],
  },
  ERR_UNEXPECTED_RESULT: { ...place, table: "documents", differences },
  ERR_LEASE_HELD: { by: "ann@machine (process 7)" },
  ERR_BEGUN: { version: "0007", file: "0007_one.ts" },
  ERR_TABLE_CHANGED: {
    file: "0007_one.ts",
    step: 2,
    kind: "renameColumn",
    table: "documents",
    differences: ["column id is missing"],
  },
  ERR_LEASE_LOST: { by: "ann@machine (process 7)" },
  ERR_LEASE_SHORT: { seconds: 1 },
  ERR_TARGET_UNREACHABLE: { target: "local", problem },
  ERR_DAMAGED: { target: "local", table: "t", path: "t.lance/data/1.lance", problem: "is empty", remedy: "move it" },
  ERR_TABLE_RECREATED: { version: "0003", name: "x", action: 1, problem: "table t was dropped and recreated" },
  ERR_UNREADABLE: { ...place, table: "t", dropped: "t.a", newest: 4, before: 3 },
  ERR_METADATA_LOST: { version: "0003", name: "x", action: 1, problem: "metadata of columns of t was lost" },
  ERR_SYMBOLIC_LINK: { path: "t.lance" },
  ERR_ACTED_LATE: { version: "0003", name: "widen_ids", action: 2 },
  ERR_CREDENTIALS: { target: "local", request: "GET /v1/tables", status: 401, problem },
  ERR_ANSWER: { target: "local", request: "GET /v1/tables", status: 500, problem },
  ERR_SERVICE_DATA: { folder: "data", problem: "is a file" },
  ERR_SERVICE_ADDRESS: { host: "127.0.0.1", port: 2333, problem: "something listens there already" },
  ERR_REQUEST: { status: 400, code: 13, problem },
  ERR_ARROW_INVALID: { problem: "ends in the middle of a message" },
  ERR_LIMIT_REACHED: { limit: "3 calls (--max-calls)", column: "documents.embedding", done: 192, total: 900 },
  ERR_TIMEOUT: { seconds: 5, done: "no table was changed" },
  ERR_UNCAUGHT: { problem: "out of reach", done: "no table was changed" },
  ERR_OUTPUT: { stream: "stderr", problem: "the disk is full", done: "no table was changed" },
  ERR_LISTENER: { problem: "out of reach", done: "no table was changed" },
  ERR_INTERRUPTED: { done: "nothing was changed" },
};

function anError<Code extends ErrorCode>(code: Code): MigrateError<Code> {
  return new MigrateError(code, samples[code]);
}

const codes = Object.keys(samples) as readonly ErrorCode[];

test.each(codes)("%s is one sentence without holes", (code) => {
  const { message } = anError(code);
  expect(message).toMatch(/^\S[^\n]*\S$/);
  expect(message).not.toMatch(/undefined|null|\[object|NaN|, ?,| {2}|: *$|[.]$/);
});

/** For programs: a service's answer carries them beside the sentence. */
const unsaid: Partial<Record<ErrorCode, readonly string[]>> = {
  ERR_REQUEST: ["status", "code"],
  ERR_PLAN_STALE: ["changed"],
  ERR_CONTRACT: ["sequence", "direction"],
};

test.each(codes)("%s says every detail that it is given", (code) => {
  const { message, details } = anError(code);
  const said = Object.entries(details)
    .filter(([name, detail]) => detail !== undefined && !unsaid[code]?.includes(name))
    .flatMap(([, detail]) => detail);
  for (const detail of said) expect(message).toContain(String(detail));
});

test.each<{ given: ErrorDetails<"ERR_COLUMN_DUPLICATE">; says: string }>([
  { given: { table: "t", name: "a", other: "a" }, says: "t would have two columns named a" },
  { given: { table: "t", name: "A", other: "a" }, says: "t would have a and A, which differ only in case" },
])("two columns of one name are told apart from two that differ in case: $says", ({ given, says }) => {
  expect(new MigrateError("ERR_COLUMN_DUPLICATE", given).message).toBe(says);
});

test.each([
  { what: "nothing", thrown: undefined },
  { what: "null", thrown: null },
  { what: "text", thrown: "ERR_DRIFT" },
  { what: "another error", thrown: new Error("ERR_DRIFT") },
  { what: "an object with a code", thrown: { code: "ERR_DRIFT" } },
])("$what is none of our errors", ({ thrown }) => {
  expect([isMigrateError(thrown), isMigrateError(thrown, "ERR_DRIFT")]).toEqual([false, false]);
});

test("an error of a second copy of the package is known", async () => {
  const folder = temporaryFolder();
  const copy = join(folder, "errors/migrate-error.ts");
  for (const name of ["errors", "secrets", "checks", "time"])
    cpSync(join(root, "src", name), join(folder, name), { recursive: true });
  const other = (await import(pathToFileURL(copy).href)) as typeof import("../../../src/errors/migrate-error.ts");
  const error = new other.MigrateError("ERR_DRIFT", samples.ERR_DRIFT);
  expect(error).not.toBeInstanceOf(MigrateError);
  expect(isMigrateError(error, "ERR_DRIFT")).toBe(true);
  expect(other.isMigrateError(anError("ERR_DRIFT"), "ERR_DRIFT")).toBe(true);
});

test.each([
  { all: [new Error("first\nsecond")], line: "first" },
  { all: [new Error("  padded  ")], line: "padded" },
  { all: [new Error("carriage\r\nreturn")], line: "carriage" },
  { all: ["text"], line: "text" },
  { all: [undefined, {}, new Error("")], line: "what was thrown has no message" },
])("the first line of what was thrown is $line", ({ all, line }) => {
  for (const thrown of all) expect(firstLine(thrown)).toBe(line);
});

const notFound = new Error("getaddrinfo ENOTFOUND chat.example");
const failed = "fetch failed: getaddrinfo ENOTFOUND chat.example";
test.each([
  { what: "a cause", thrown: new TypeError("fetch failed", { cause: notFound }), text: failed },
  {
    what: "the cause of a cause, one of several",
    thrown: new TypeError("fetch failed", { cause: new Error("", { cause: new AggregateError([notFound]) }) }),
    text: failed,
  },
  {
    what: "a cause that it contains",
    thrown: new Error("it broke: disk full", { cause: new Error("disk full") }),
    text: "it broke: disk full",
  },
  { what: "no cause", thrown: new Error("it broke\nhere"), text: "it broke" },
])("what was thrown with $what is one line", ({ thrown, text }) => {
  expect(linesWithCause(thrown)).toBe(text);
});
