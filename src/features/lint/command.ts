import { join, relative, resolve } from "node:path";
import { count, firstLine, MigrateError } from "../../errors/migrate-error.ts";
import { findingsOf, noRule, ruleIds, type LintFinding, type Findings } from "./findings.ts";
import { checkMigrations, type CheckedMigrations } from "../shared/check-migrations/check-migrations.ts";
import { revisionOf } from "../shared/check-migrations/plan-what-works.ts";
import { writeIntoFolder } from "../../migrations/generated-file.ts";
import { lockName } from "../../migrations/schema-lock.ts";
import { databaseAfter, type SchemaRevision } from "../../run/schema-history.ts";
import { otherTargets } from "../../session/open-target.ts";
import type { Session } from "../../session/session.ts";
import { schemaFile } from "../shared/file-kind.ts";
import { derivedFiles, type Described } from "../../cli/command/additions.ts";
import { defineCommand, withAnySession, type Context } from "../../cli/command/command.ts";
import { switchFlag, textFlag, type FlagValues } from "../../cli/command/flags.ts";
import type { Annotation, Line } from "../../cli/command/output.ts";
import { staleLock, writeLockOf } from "../shared/lock-file.ts";
import { problemsOfSql } from "./refused-sql.ts";
import { problemsOfCode } from "./unusable-code.ts";
import { sarifLog } from "./sarif.ts";
import { migrationsSince, withoutSettled } from "./shown-migrations.ts";
import { renderWritten, shownPath } from "../shared/written-files.ts";
import type { Declared } from "./rules/rule.ts";
import type { LintSettings } from "./settings.ts";
import { cleaned } from "../../secrets/redact.ts";
import type * as shapes from "./json.ts";

const flags = {
  since: textFlag(
    "report dangers only in migrations after this number, or that are new or changed since this branch of git",
    {
      value: "NUMBER|BRANCH",
    },
  ),
  all: switchFlag("also print notes about migrations that are applied"),
  write: switchFlag("rewrite lock.json"),
  github: switchFlag("print annotations for GitHub Actions"),
  sarif: textFlag("also write the findings to this file, in the format SARIF", { value: "FILE" }),
  "deny-warnings": switchFlag("exit with 4 on warnings too"),
};

export const lintCommand = defineCommand({
  describe: "check every migration, without reading or changing tables of the application",
  examples: [
    ["migrate lint", "check all migrations"],
    [
      "migrate lint --since origin/main --deny-warnings",
      "in CI: report only what is new, and exit with 4 on warnings too",
    ],
    ["migrate lint --write", "rewrite lock.json after an edit by hand"],
  ],
  exits: { refused: "a problem was found" },
  flags,
  conflicts: [["github", "json"]],
  async run(context) {
    const { output } = context;
    const { write, github, sarif, "deny-warnings": deny } = context.flags;
    const { problems, files, losses, findings, lock } = await withAnySession(context, async (session) => {
      const linted = await checkMigrations(session.options, { recordsCalls: true });
      const revisions = linted.sound.migrations.map(revisionOf);
      const found: LintFindings = await lintFindings(linted, revisions, session, context);
      // If there are problems, the content of the lock file can't be determined.
      if (!found.isSound) return found;
      if (write === true) return { ...found, lock: writeLockOf(session, revisions) };
      const stale = staleLock(session, revisions);
      return stale === undefined ? found : withProblem(found, stale, join(session.folder, lockName));
    });
    const shown = findings.map((one) => ({ ...one, file: shownPath(one.file) }));
    output.data<typeof shapes.lint>({
      files,
      problems: problems.map(({ code, message, details }) => ({ code, message, details })),
      losses,
      lock,
      findings: shown,
    });
    if (sarif !== undefined) writeSarif(sarif, shown);
    for (const one of shown)
      if (github === true) output.annotation(annotationOf(one));
      else output.result(lineOf(one));
    if (lock !== undefined) renderWritten(output, [lock]);
    const counts = (["error", "warning", "note"] as const).flatMap((severity) => {
      const number = findings.filter((one) => one.severity === severity).length;
      return number === 0 ? [] : count(number, severity);
    });
    const summary = `${count(files, "migration")} checked${counts.length === 0 ? ", nothing wrong" : `: ${counts.join(", ")}`}`;
    const isWrong = findings.some(({ severity }) => severity === "error" || (severity === "warning" && deny === true));
    if (isWrong) output.problem({ style: "red", text: summary });
    else output.result({ style: counts.length === 0 ? "green" : "yellow", text: summary });
    return problems[0]?.outcome ?? (isWrong ? "refused" : undefined);
  },
});

type LintFindings = Findings & { readonly lock?: string };

async function lintFindings(
  linted: CheckedMigrations,
  revisions: readonly SchemaRevision[],
  session: Session,
  context: Context<FlagValues<typeof flags>>,
): Promise<Findings> {
  const { since, all, "load-timeout": loadSeconds } = context.flags;
  const { config } = session;
  const { file, folder, lint: { rules } = {} } = config as typeof config & LintSettings;
  const unknown = Object.keys(rules ?? {}).find((id) => !ruleIds.includes(id));
  if (unknown !== undefined)
    throw new MigrateError("ERR_CONFIG_INVALID", { file, problem: `lint.rules: ${noRule(unknown)}` });
  const typed = typedTables((await derivedFiles(context.features)).described(session, revisions), revisions);
  const others = await otherTargets(config, session.target);
  const { migrations } = linted.sound;
  const refused = await problemsOfSql(migrations, session.options.target);
  const unusable = await problemsOfCode(migrations, folder);
  const found = await findingsOf(
    { ...linted, problems: [...linted.problems, ...refused, ...unusable] },
    {
      rules,
      isShown: migrationsSince(session.folder, since),
      schema: resolve(folder, schemaFile(config)),
      typed,
      others,
      loadSeconds,
    },
  );
  return all === true ? found : await withoutSettled(found, session.options);
}

/** The tables that the application's types describe, if these are older than the last migration. */
function typedTables(typed: Described | undefined, { length }: readonly SchemaRevision[]): Declared | undefined {
  if (typed === undefined || typed.revisions.length === length) return undefined;
  const hint = "rewrite it with migrate types, and change the code that uses it";
  return { file: relative(process.cwd(), typed.path), tables: databaseAfter(typed.revisions), hint };
}

function withProblem(found: LintFindings, problem: MigrateError, file: string): LintFindings {
  const { code: rule, message } = problem;
  const finding: LintFinding = { file, line: 1, column: 1, rule, severity: "error", message };
  return { ...found, problems: [...found.problems, problem], findings: [...found.findings, finding] };
}

const colours = { error: "red", warning: "yellow", note: "cyan" } as const;

function lineOf({ file, line, column, severity, rule, message }: LintFinding): Line {
  return [
    { style: "bold", text: `${file}:${line}:${column}` },
    " ",
    { style: colours[severity], text: severity },
    " ",
    { style: "dim", text: `${rule}:` },
    ` ${message}`,
  ];
}

/** Throws ERR_USAGE. */
function writeSarif(file: string, findings: readonly LintFinding[]): void {
  try {
    writeIntoFolder(file, `${JSON.stringify(cleaned(sarifLog(findings)), undefined, 2)}\n`);
  } catch (cause) {
    throw new MigrateError("ERR_USAGE", { problem: `--sarif can't be written: ${firstLine(cause)}` }, { cause });
  }
}

const levels = { error: "error", warning: "warning", note: "notice" } as const;

function annotationOf({ file, line, column, severity, rule, message }: LintFinding): Annotation {
  return { level: levels[severity], properties: { file, line, col: column, title: rule }, message };
}
