/** What `migrate init` is to do: asked at a terminal, or taken from what was found. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { count, MigrateError } from "../../../errors/migrate-error.ts";
import { isFolder, placeAt, workflowPath, type InitChoice, type TablePlace } from "./files.ts";
import { tableNamesIn, type ProjectSurvey } from "./survey.ts";
import { tableNameProblem } from "../../../schema/names.ts";
import type { Context } from "../../../cli/command/command.ts";
import { atTerminal, type Asking } from "../../../cli/input/prompt.ts";

export const usualTable = "documents";

/** What is done without questions. */
export function choiceFound(survey: ProjectSurvey): InitChoice {
  const { place, tables, hasMigrations } = survey;
  // Whether a service or an object store has tables is unknown.
  const isKnown = !hasMigrations && isFolder(place);
  const first = tables.length > 0 ? "pull" : { table: usualTable };
  return { place, first: isKnown ? first : undefined, workflow: mayHaveWorkflow(survey) };
}

/** Whether there is a repository without a workflow of this name, and no other CI service is in use. */
function mayHaveWorkflow({ repository, otherCi }: ProjectSurvey): boolean {
  return repository !== undefined && otherCi === undefined && !existsSync(join(repository, workflowPath));
}

/** `isGiven`: the user has already named the place of the tables. Throws ERR_INTERRUPTED. */
export async function askChoice(
  survey: ProjectSurvey,
  context: Pick<Context, "output" | "signal">,
  isGiven: boolean,
): Promise<InitChoice> {
  return await atTerminal(context, async (asking) => {
    const place = survey.config === undefined && !isGiven ? await askPlace(likelyPlace(survey), asking) : survey.place;
    const first = survey.hasMigrations ? undefined : await askFirst(survey, place, asking);
    const workflow = mayHaveWorkflow(survey) && (await isYes(asking, `write ${workflowPath} for GitHub?`, true));
    return { place, first, workflow };
  });
}

/** The one other folder with tables, if there are none at the usual place. */
function likelyPlace({ place, elsewhere }: ProjectSurvey): TablePlace {
  return elsewhere.length === 1 ? placeAt(elsewhere[0]!) : place;
}

async function askPlace(found: TablePlace, { untilRight }: Asking): Promise<TablePlace> {
  const usual = found.uri ?? "MIGRATE_ENDPOINT";
  return await untilRight(`where are the tables: a folder, s3://… or https://…? (${usual}) `, (answer) => {
    const uri = answer.trim();
    return uri === "" || uri === usual ? found : placeAt(uri);
  });
}

async function askFirst(survey: ProjectSurvey, place: TablePlace, asking: Asking): Promise<InitChoice["first"]> {
  const known = tableNamesIn(survey.config?.folder ?? survey.folder, place);
  const isPulled =
    known.length > 0
      ? await isYes(asking, `write the first migration from the ${count(known.length, "table")} in ${place.uri}?`, true)
      : !isFolder(place) &&
        (await isYes(asking, "are there tables already, from which to write the first migration?", false));
  if (isPulled) return "pull";
  return await asking.untilRight(`first table to create, or - for none (${usualTable}) `, (answer) => {
    const table = answer.trim() === "" ? usualTable : answer.trim();
    if (table === "-") return undefined;
    const problem = tableNameProblem(table);
    if (problem !== undefined) throw new MigrateError("ERR_USAGE", { problem: `${table} ${problem}` });
    return { table };
  });
}

async function isYes({ untilRight }: Asking, question: string, usual: boolean): Promise<boolean> {
  return await untilRight(`${question} (${usual ? "Y/n" : "y/N"}) `, (answer) => {
    const word = answer.trim().toLowerCase();
    if (["", "y", "yes", "n", "no"].includes(word)) return word === "" ? usual : word.startsWith("y");
    throw new MigrateError("ERR_USAGE", { problem: "answer y or n" });
  });
}
