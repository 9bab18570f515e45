/**
 * Answers, from flags or at a terminal: what became of tables and columns that are gone, and which values new ones get.
 */
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { DiffAnswer, ValueStep } from "../generate/diff-columns.ts";
import type { Diff } from "../generate/diff-tables.ts";
import { checkAnswers, checkDiff, goneWords, questionOf } from "../generate/generate.ts";
import type { Step } from "../../../steps/registry.ts";
import { atTerminal, canAsk, type MenuEntry } from "../../../cli/input/prompt.ts";
import type { Context } from "../../../cli/command/command.ts";
import { stepFlagTable, typedSteps } from "./step-flags.ts";

export const answerFlags = stepFlagTable([
  "rename",
  "drop-column",
  "add-column",
  "retype",
  "rename-table",
  "drop-table",
]);

export function typedAnswers(context: Context): readonly DiffAnswer[] {
  const steps = typedSteps(context);
  const places = steps.flatMap((step) => (isOfValues(step) ? [columnLabel(step)] : []));
  const twice = places.find((place, index) => places.indexOf(place) < index);
  if (twice !== undefined) throw new MigrateError("ERR_USAGE", { problem: `the values of ${twice} are given twice` });
  return steps.map(answerOf);
}

function isOfValues(step: Step): step is ValueStep {
  return step.kind === "addColumn" || step.kind === "retypeColumn";
}

function columnLabel(step: ValueStep): string {
  return `${step.table}.${step.kind === "addColumn" ? step.name : step.path}`;
}

/** The same difference with all questions answered, and the answers. Throws ERR_DIFF_IMPOSSIBLE, ERR_DIFF_UNSURE, ERR_USAGE. */
export async function askUntilAnswered<Found extends Diff>(
  found: Found,
  given: readonly DiffAnswer[],
  compare: (answers: readonly DiffAnswer[]) => Promise<Found>,
  context: Pick<Context, "output" | "signal">,
): Promise<Found & { readonly answers: readonly DiffAnswer[] }> {
  checkTyped(found, given);
  let diff = found;
  let answers = given;
  // An answer may raise further questions, for example about the fields of a renamed struct.
  while (diff.unsure.length > 0 && !context.output.json && canAsk()) {
    const more = await ask(diff, context);
    // The error then states the flags that answer.
    if (more === undefined) break;
    answers = [...answers, ...more];
    diff = await compare(answers);
  }
  checkDiff(diff);
  checkAnswers(diff);
  return { ...diff, answers };
}

/**
 * Throws ERR_USAGE for an answer that answers nothing. As long as questions are open, an unused answer may be about
 * something inside what they ask about, so it throws only if no answer was used.
 */
export function checkTyped(found: Diff, given: readonly DiffAnswer[]): void {
  // Whether an answer about values is used is unknown while its table or column is still asked about.
  const isClear = ({ step }: DiffAnswer) => step === undefined;
  const stray = { ...found, unused: found.unused.filter(isClear) };
  if (found.unsure.length === 0) checkAnswers(found);
  else if (given.filter(isClear).length === stray.unused.length) checkAnswers(stray);
}

/** A name for a migration, made from its steps: `rename_column_documents`. */
export function nameOf([first, ...others]: readonly Step[]): string {
  const words = first!.kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const table = first!.table.replace(/[^A-Za-z0-9_-]+/g, "_");
  return `${words}_${table}${others.length === 0 ? "" : "_and_more"}`.slice(0, 200);
}

function answerOf(step: Step): DiffAnswer {
  const { table } = step;
  if (isOfValues(step)) return { table, step };
  switch (step.kind) {
    case "renameColumn":
      return { table, path: step.path, name: step.name };
    case "dropColumn":
      return { table, path: step.path };
    case "renameTable":
      return { table, name: step.name };
    default:
      return { table };
  }
}

/** Undefined if the user wants to stop. */
async function ask(
  { unsure }: Diff,
  context: Pick<Context, "output" | "signal">,
): Promise<readonly DiffAnswer[] | undefined> {
  return await atTerminal(context, async ({ choose }) => {
    const answers: DiffAnswer[] = [];
    const taken = new Set<string>();
    for (const one of unsure) {
      const { gone, names, note } = questionOf(one);
      const free = one.names
        .map((name, index) => ({ name, place: names[index]! }))
        .filter(({ place }) => !taken.has(place));
      const lost = one.path === undefined ? "rows" : "values";
      const choices: readonly MenuEntry<Partial<(typeof free)[number]> | undefined>[] = [
        ...free.map((value) => ({ label: `rename ${gone} to ${value.name}`, value })),
        { label: [`drop ${gone} `, { style: "red", text: `(its ${lost} are lost)` }], value: {} },
        { label: "stop and change nothing", value: undefined },
      ];
      const chosen = await choose(
        goneWords(
          gone,
          free.map(({ place }) => place),
          note,
        ),
        choices,
      );
      if (chosen === undefined) return undefined;
      if (chosen.place !== undefined) taken.add(chosen.place);
      answers.push({ table: one.table, path: one.path, name: chosen.name });
    }
    return answers;
  });
}
