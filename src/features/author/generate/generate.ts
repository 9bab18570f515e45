/** Compares a declared schema with the tables after all existing migrations. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { DiffAnswer, Unsure, ValueStep } from "./diff-columns.ts";
import { diff, diffCapabilities, type Diff } from "./diff-tables.ts";
import { formatType } from "../../../schema/data-type.ts";
import { placeNotation, shellWord } from "../../shared/format-notation.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import type { Database } from "../../../schema/table.ts";
import type { CheckedMigrations } from "../../shared/check-migrations/check-migrations.ts";
import type { MigratorOptions } from "../../../run/run-context.ts";

/** Throws the first problem that `lint` has found. */
export function compareDeclared(
  { problems, sound }: CheckedMigrations,
  { target }: Pick<MigratorOptions, "target">,
  declared: Database,
  answers: readonly DiffAnswer[],
): Diff {
  if (problems[0] !== undefined) throw problems[0];
  const options = { ...diffCapabilities(target.capabilities), asksDrops: true, comparesParameters: true };
  return diff(sound.after, declared, { answers, ...options });
}

/** Throws ERR_USAGE if an answer fits no question. */
export function checkAnswers({ unused }: Diff): void {
  const [answer] = unused;
  if (answer === undefined) return;
  const { table, path, name, step } = answer;
  if (step !== undefined) throw new MigrateError("ERR_USAGE", { problem: strayWords(step) });
  const gone = path === undefined ? table : `${table}.${path}`;
  const problem =
    name === undefined
      ? `${gone} is not gone, so there is nothing to drop`
      : `${gone} can't have become ${name}: it is not gone, or ${name} is not new there; where columns trade names, say the new name of each with --rename, and where a column takes the name of a dropped one, drop that with --drop-column`;
  throw new MigrateError("ERR_USAGE", { problem });
}

function strayWords(step: ValueStep): string {
  const { table, type } = step;
  return step.kind === "addColumn"
    ? `--add-column ${table}.${step.name} answers nothing: no table that is there is to get it as ${formatType(type)}${step.nullable ? "" : " not null"}`
    : `--retype ${table}.${step.path} answers nothing: no column of that name is to become ${formatType(type)}`;
}

/** Throws ERR_DIFF_IMPOSSIBLE, ERR_DIFF_UNSURE. */
export function checkDiff({ impossible, unsure }: Diff): void {
  const questions = unsure.map(sentenceOf);
  if (impossible.length > 0) throw new MigrateError("ERR_DIFF_IMPOSSIBLE", { problems: [...impossible, ...questions] });
  if (unsure.length > 0) throw new MigrateError("ERR_DIFF_UNSURE", { questions });
}

function sentenceOf(unsure: Unsure): string {
  const { gone, names, note, answers } = questionOf(unsure);
  return `${goneWords(gone, names, note)}; answer with ${answers.join(", or ")}`;
}

/** What is gone, and what is new instead. */
export function goneWords(gone: string, names: readonly string[], note?: string): string {
  return `${gone} is gone${names.length === 0 ? "" : ` and ${names.join(" and ")} new`}${note === undefined ? "" : `; ${note}`}`;
}

export function questionOf({ table, path, names, like = [] }: Unsure) {
  const [short, drop] = path === undefined ? ["--rename-table", "--drop-table"] : ["--rename", "--drop-column"];
  const gone = path === undefined ? table : `${table}.${path}`;
  const around = path === undefined ? [] : parsePath(path).slice(0, -1);
  const placed = (name: string) => (path === undefined ? name : `${table}.${formatPath([...around, name])}`);
  const flag = placeNotation(table, path === undefined ? [] : parsePath(path));
  return {
    gone,
    names: names.map(placed),
    note: like.length === 0 ? undefined : keptWords(table, like),
    answers: [
      ...names.map((name) => `${short} ${shellWord(`${flag}:${placeNotation(name)}`)}`),
      `${drop} ${shellWord(flag)}`,
    ],
  };
}

/** The target can't rename the table, so only a copy keeps its rows. */
function keptWords(table: string, like: readonly string[]): string {
  const name = like.length === 1 ? like[0]! : `one of ${like.join(", ")}`;
  return `if ${name} replaces it, its rows will not be there, because this target can't rename tables: to keep them, declare ${table} too, copy the rows after migrate up, and remove ${table} from the schema later`;
}
