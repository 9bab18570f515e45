/** Writes the files of `migrate init` that are no migrations, and never overwrites one. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileReason, isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import { packageFolder } from "../../../engine/package/package-folder.ts";
import { writeIntoFolder } from "../../../migrations/generated-file.ts";
import { formatDraft } from "../scaffold/format-draft.ts";
import { configText, gitignoreText, isFolder, workflowPath, workflowText, type InitChoice } from "./files.ts";
import { placeInRepository, type ProjectSurvey } from "./survey.ts";

const agentsName = "AGENTS.md";

/**
 * Why the formatter that was found can't be run; undefined if it can, or if no configuration is written. Tries it on a
 * draft. Throws ERR_USAGE.
 */
export async function formatProblem(survey: ProjectSurvey, { place }: InitChoice): Promise<string | undefined> {
  const { folder, kind, migrations, format, config } = survey;
  if (config !== undefined || format === undefined) return undefined;
  const draft = join(folder, `.migrate.config.draft.${kind}`);
  writeText(draft, configText({ place, migrations, format }), "w");
  try {
    await formatDraft(draft, { folder, format });
    return undefined;
  } catch (error) {
    if (!isMigrateError(error, "ERR_FORMAT")) throw error;
    return error.details.problem;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Gives the paths. Throws ERR_USAGE. */
export function writeFiles(survey: ProjectSurvey, { place, workflow }: InitChoice): readonly string[] {
  const { folder, repository, manager, kind, migrations, format, config } = survey;
  const written: string[] = [];
  const write = (path: string, text: string | undefined, flag: "wx" | "w" = "wx") => {
    if (text === undefined) return;
    writeText(path, text, flag);
    written.push(path);
  };
  if (config === undefined) write(join(folder, `migrate.config.${kind}`), configText({ place, migrations, format }));
  const runs = isFolder(place);
  const { uri } = place;
  const ignored = join(folder, ".gitignore");
  const known = existsSync(ignored) ? readFileSync(ignored, "utf8") : undefined;
  // A folder outside the project is not ignored there.
  const inside = runs && uri !== undefined && !/^(\/|\.\.)/.test(uri) ? [`${uri.replace(/^\.\//, "")}/`] : [];
  const lines = known === undefined ? ["node_modules/", ...inside] : inside;
  write(ignored, gitignoreText(known, lines), "w");
  if (workflow && repository !== undefined)
    write(join(repository, workflowPath), workflowText({ manager, runs, place: placeInRepository(survey) }));
  return written;
}

/** Gives the path; undefined if there is one already. Throws ERR_USAGE. */
export function writeAgents({ folder, manager }: ProjectSurvey): string | undefined {
  const path = join(folder, agentsName);
  if (existsSync(path)) return undefined;
  const text = readFileSync(join(packageFolder(), "templates", agentsName), "utf8");
  writeText(path, text.replaceAll("npx migrate", manager.run), "wx");
  return path;
}

function writeText(path: string, text: string, flag: "wx" | "w"): void {
  try {
    writeIntoFolder(path, text, flag);
  } catch (cause) {
    const problem = `${relative(process.cwd(), path)} can't be written: ${fileReason(cause)}`;
    throw new MigrateError("ERR_USAGE", { problem }, { cause });
  }
}
