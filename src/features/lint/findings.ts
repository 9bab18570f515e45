/** The findings of `lint`: problems, and what rules find dangerous, each with its position. */
import { basename } from "node:path";
import { isMigrateError, type MigrateError } from "../../errors/migrate-error.ts";
import { readTextIfPresent } from "../../migrations/list-files.ts";
import { loadSchema } from "../shared/load-schema.ts";
import { ignoredAt, ignoresIn } from "./source/lint-ignores.ts";
import { positionOfWord, start, type SourcePosition } from "./source/source-positions.ts";
import * as registry from "./rules/index.ts";
import type { OtherTarget } from "../../plan/problems-elsewhere.ts";
import type { Declared, Rule, Severity } from "./rules/rule.ts";
import { similarName } from "../../schema/names.ts";
import type { CheckedMigrations } from "../shared/check-migrations/check-migrations.ts";
import type { Migration } from "../../migrations/load.ts";
import { positionOfProblem, positionsOfStep } from "./finding-position.ts";

export type RuleId = (typeof registry)[keyof typeof registry]["id"];

/** The severity of each rule's findings; `off` drops them. */
export type RuleSettings = Readonly<Partial<Record<RuleId, Severity | "off">>>;

export interface LintFinding extends SourcePosition {
  /** The path of the file. */
  readonly file: string;
  /** The rule's id, or the code of an error. */
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
}

export interface Findings extends CheckedMigrations {
  /** Sorted by file and position. */
  readonly findings: readonly LintFinding[];
}

export interface FindingsChoice {
  readonly rules?: RuleSettings | undefined;
  /** Whether rules are applied to a migration. Problems are reported for all. */
  readonly isShown?: ((migration: Migration) => boolean) | undefined;
  /** The path of a file that may declare the tables that the application wants. */
  readonly schema?: string | undefined;
  /** The tables that another file of the application declares. */
  readonly typed?: Declared | undefined;
  /** Other targets on which these migrations may run. */
  readonly others?: readonly OtherTarget[] | undefined;
  readonly loadSeconds?: number | undefined;
}

export const rules: readonly Rule[] = Object.values(registry);
export const ruleIds: readonly string[] = rules.map(({ id }) => id);

/** Touches no table. `linted`: with recorded calls. */
export async function findingsOf(linted: CheckedMigrations, choice: FindingsChoice = {}): Promise<Findings> {
  const texts = new Map<string, string>();
  const textAt = (path: string) => {
    const text = texts.get(path) ?? readTextIfPresent(path) ?? "";
    texts.set(path, text);
    return text;
  };
  const { declared, problem } = await readDeclared(choice, textAt);
  const allDeclared = [declared, choice.typed].filter((one) => one !== undefined);
  const found = [
    ...linted.problems.map((one) => findingOf(one, linted, textAt)),
    ...(problem === undefined ? [] : [errorFinding(choice.schema!, start, problem, problem.message)]),
    ...remarksOn(linted, allDeclared, choice, textAt),
    ...linted.read.flatMap(({ file: { path } }) => unknownRules(path, textAt(path))),
  ];
  const ranks = new Map([...linted.paths.values()].map((path, rank) => [path, rank]));
  const rank = ({ file }: LintFinding) => ranks.get(file) ?? ranks.size;
  return {
    ...linted,
    problems: problem === undefined ? linted.problems : [...linted.problems, problem],
    findings: found.toSorted(
      (one, other) => rank(one) - rank(other) || one.line - other.line || one.column - other.column,
    ),
  };
}

/** The tables that the schema file declares, if it declares any, or the problem with that file. */
async function readDeclared(
  { schema, loadSeconds }: FindingsChoice,
  textAt: (path: string) => string,
): Promise<{ readonly declared?: Declared; readonly problem?: MigrateError }> {
  // A file of that name may serve another purpose.
  if (schema === undefined || !/\bdefineSchema\b/.test(textAt(schema))) return {};
  try {
    const tables = await loadSchema(schema, loadSeconds);
    return { declared: { file: basename(schema), tables, hint: "rename it there, and in what uses it" } };
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return { problem: error };
  }
}

/** The findings of rules, in steps that can work. */
function remarksOn(
  { sound: { migrations, after } }: CheckedMigrations,
  declared: readonly Declared[],
  { rules: settings = {}, isShown = () => true, others = [] }: FindingsChoice,
  textAt: (path: string) => string,
): readonly LintFinding[] {
  const findings: LintFinding[] = [];
  const all = migrations.flatMap(({ actions }) => actions);
  let done = 0;
  for (const { migration, actions } of migrations) {
    const first = done;
    done += actions.length;
    if (!isShown(migration)) continue;
    const { path: file } = migration;
    const text = textAt(file);
    const ignores = ignoresIn(text);
    for (const [index, action] of actions.entries()) {
      const earlier = () => actions.slice(0, index);
      const later = () => all.slice(first + index + 1);
      for (const { id, severity: usual, check } of rules) {
        const severity = settings[id as RuleId] ?? usual;
        if (severity === "off") continue;
        for (const { message, word } of check(action, { migration, earlier, later, after, declared, others })) {
          const calls = positionsOfStep(text, file, migration.steps[action.place.step - 1]);
          const place = word === undefined ? calls[0]! : positionOfWord(text, calls[0]!, word);
          if ([place, ...calls].some((one) => ignoredAt(text, ignores, one).includes(id))) continue;
          findings.push({ file, ...place, rule: id, severity, message });
        }
      }
    }
  }
  return findings;
}

/** Errors for comments that silence nothing, because they name no existing rule. */
function unknownRules(file: string, text: string): readonly LintFinding[] {
  return ignoresIn(text)
    .filter(({ rule }) => !ruleIds.includes(rule))
    .map(({ rule, place }) => ({ file, ...place, rule: "lint-ignore", severity: "error", message: noRule(rule) }));
}

/** A sentence for an unknown rule, with the rule that may have been meant. */
export function noRule(id: string): string {
  const similar = similarName(id, ruleIds);
  return `there is no rule ${id}; ${similar === undefined ? `there are ${ruleIds.join(", ")}` : `did you mean ${similar}?`}`;
}

function findingOf(problem: MigrateError, linted: CheckedMigrations, textAt: (path: string) => string): LintFinding {
  const { file, files } = problem.details as { readonly file?: string; readonly files?: readonly string[] };
  const name = file ?? files?.at(-1) ?? "";
  const path = linted.paths.get(name) ?? name;
  const prefix = `${name}, `;
  const { message } = problem;
  const read = linted.read.find((one) => one.file.path === path);
  // The position already names the file.
  const shown = message.startsWith(prefix) ? message.slice(prefix.length) : message;
  return errorFinding(path, positionOfProblem(problem, textAt(path), read), problem, shown);
}

function errorFinding(file: string, position: SourcePosition, { code }: MigrateError, message: string): LintFinding {
  return { file, ...position, rule: code, severity: "error", message };
}
