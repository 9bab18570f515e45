/** Finds the position of a problem in a migration file. */
import { isMigrateError, type ErrorCode, type MigrateError, type StepPlace } from "../../errors/migrate-error.ts";
import {
  callsIn,
  positionOfAfter,
  positionOfExport,
  positionOfWord,
  start,
  type SourcePosition,
} from "./source/source-positions.ts";
import { missingIn } from "../shared/check-migrations/follow-up-errors.ts";
import { callsOf } from "../../steps/define/call-sites.ts";
import type { ReadFile } from "../shared/check-migrations/check-migrations.ts";

/** The position of a problem; the start of the file if it cannot be determined. */
export function positionOfProblem(problem: MigrateError, text: string, read: ReadFile | undefined): SourcePosition {
  if (isMigrateError(problem, "ERR_FILE_UNREADABLE")) {
    const { line, column } = problem.details;
    return line === undefined || column === undefined ? start : { line, column };
  }
  if (isMigrateError(problem, "ERR_FILE_EXPORTS")) return positionOfExport(text, problem.details.list);
  if (isMigrateError(problem, "ERR_FILE_AFTER")) return positionOfAfter(text, problem.details.says);
  const { step, of } = problem.details as Partial<StepPlace>;
  if (step === undefined || read === undefined) return start;
  const { migration, wrong } = read;
  const value =
    wrong.find((one) => one.problem === problem)?.value ??
    (of === "down" ? migration.down : migration.steps)?.[step - 1];
  const [call] = positionsOfStep(text, migration.path, value, of);
  const word = wrongWord(isMigrateError(problem.cause) ? problem.cause : problem);
  return word === undefined ? call! : positionOfWord(text, call!, word.text, word.isFirst);
}

/** The calls in the file that made a step, innermost first; for a step written by hand, the export it is in. */
export function positionsOfStep(
  text: string,
  path: string,
  step: unknown,
  of: NonNullable<StepPlace["of"]> | "up" = "up",
): readonly SourcePosition[] {
  const calls = callsIn(path, text, callsOf(step));
  return calls.length === 0 ? [positionOfExport(text, of)] : calls;
}

/** The single wrong word in a step, if there is one. `isFirst`: whether it may be the first argument, the table. */
function wrongWord(problem: MigrateError): { readonly text: string; readonly isFirst: boolean } | undefined {
  const { table, name, path } = problem.details as Readonly<Partial<Record<string, string>>>;
  const isFirst = ["ERR_TABLE_MISSING", "ERR_TABLE_EXISTS", "ERR_TABLE_NAME"].includes(problem.code);
  const words: Partial<Record<ErrorCode, string | undefined>> = {
    ERR_COLUMN_MISSING: missingIn(problem),
    ERR_COLUMN_NAME: name,
    ERR_COLUMN_DUPLICATE: name,
    ERR_PATH_INVALID: path,
  };
  const text = isFirst ? table : words[problem.code];
  return text === undefined ? undefined : { text, isFirst };
}
