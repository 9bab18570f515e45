import { locationOf } from "../../engine/location.ts";
import { existsSync } from "node:fs";
import { MigrateError } from "../../errors/migrate-error.ts";
import { shellWord } from "../shared/format-notation.ts";
import { int64, utf8, vector } from "../../schema/declare/type-builders.ts";
import { isFolder, type InitChoice, type TablePlace } from "./init/files.ts";
import type { NextCommand } from "./init/next-commands.ts";
import type { ProjectSurvey } from "./init/survey.ts";
import { loadConfig } from "../../session/load-config.ts";
import { createTable } from "../../steps/index.ts";
import { addedToConfig } from "../../session/session-feature.ts";
import { defineCommand, withAnySession, withSession, type Context } from "../../cli/command/command.ts";
import { nameArgument, switchFlag } from "../../cli/command/flags.ts";
import type { Output } from "../../cli/command/output.ts";
import { canAsk } from "../../cli/input/prompt.ts";
import { writingNext } from "./scaffold/write-migration.ts";
import { renderWritten, shownPath } from "../shared/written-files.ts";
import { pullInto } from "./pull-command.ts";
import type * as shapes from "./json.ts";

export const initCommand = defineCommand({
  describe: "set up a project: the configuration, the first migration, .gitignore and a CI workflow",
  examples: [
    ["migrate init", "ask what can't be found out, and write what is missing"],
    ["migrate init --yes", "the same in a script, without questions"],
    ["migrate init data/shop", "for the tables in another folder than .lancedb"],
  ],
  flags: {
    folder: nameArgument("the folder of the tables (.lancedb), or s3://… or https://…"),
    yes: switchFlag("ask nothing, and do what fits what is found"),
    agents: switchFlag("also write AGENTS.md, for assistants that write migrations"),
  },
  async run(context) {
    const { flags, output, underWay } = context;
    const { yes, folder, config: path, "load-timeout": loadSeconds } = flags;
    if (yes !== true && (output.json || !canAsk()))
      throw new MigrateError("ERR_USAGE", {
        problem: "migrate init asks questions at a terminal; with --yes it asks nothing",
      });
    const here = process.cwd();
    const { describeSurvey, isConfigured, surveyOf } = await import("./init/survey.ts");
    const { formatProblem, writeAgents, writeFiles } = await import("./init/write-files.ts");
    const { nextCommands } = await import("./init/next-commands.ts");
    const { missingPackages } = await import("./init/missing-packages.ts");
    const { askChoice, choiceFound } = await import("./init/prompt-init.ts");
    const config =
      isConfigured(here) || path !== undefined
        ? await loadConfig(here, path, loadSeconds, addedToConfig(context.features))
        : undefined;
    if (folder !== undefined && config !== undefined)
      throw new MigrateError("ERR_USAGE", { problem: "the configuration states where the tables are already" });
    const found = surveyOf(here, config, folder);
    output.progress(describeSurvey(found));
    if (yes === true) checkPlace(found);
    const choice = yes === true ? choiceFound(found) : await askChoice(found, context, folder !== undefined);
    if (choice.place !== found.place || folder !== undefined) noteMissing(choice.place, output);
    underWay(true);
    const problem = await formatProblem(found, choice);
    if (problem !== undefined) output.progress(`note: the configuration names no formatter: ${problem}`);
    const survey = problem === undefined ? found : { ...found, format: undefined };
    const agents = flags.agents === true ? writeAgents(survey) : undefined;
    const files = [...writeFiles(survey, choice), agents ?? []].flat();
    renderWritten(output, files);
    const missing = missingPackages(survey, choice);
    const first = missing.isBlocked ? [] : await writeFirst(choice.first, context);
    const hasWritten = files.length + first.length > 0;
    const next = nextCommands(survey, choice.first, missing, hasWritten);
    output.data<typeof shapes.init>({
      written: [...files, ...first].map(shownPath),
      next: next.map(({ command }) => command),
    });
    if (!hasWritten) output.result("nothing to do: the project is set up");
    renderNext(next, output);
    return undefined;
  },
});

/** Which folder is meant is unknown, and a configuration for the wrong one would look as if there were no tables. */
function checkPlace({ place, elsewhere }: ProjectSurvey): void {
  if (elsewhere.length === 0) return;
  const commands = [...elsewhere, place.uri!].map((folder) => `migrate init ${shellWord(folder)} --yes`);
  throw new MigrateError("ERR_USAGE", {
    problem: `there are tables in ${elsewhere.join(" and ")} and none in ${place.uri!}; run ${commands.join(", or ")}`,
  });
}

/** A folder that does not exist may be a typing error. */
function noteMissing(place: TablePlace, output: Output): void {
  if (isFolder(place) && !existsSync(locationOf(place.uri!, process.cwd()).folder!))
    output.progress(`note: ${place.uri!} does not exist yet; migrate up creates it`);
}

/** Gives the paths of what it writes. */
async function writeFirst(first: InitChoice["first"], context: Context): Promise<readonly string[]> {
  if (first === undefined) return [];
  // The documents of --json are those of the whole command.
  const within = { ...context, output: { ...context.output, data: () => {} } };
  if (first === "pull") return await withSession(within, (session) => pullInto(session, within, "adopt", []));
  const { table } = first;
  const columns = { id: int64().notNull(), text: utf8(), vector: vector(384) };
  const name = `create_${table.replaceAll(/[^A-Za-z0-9_-]+/g, "_")}`;
  const { file, lock, types } = await withAnySession(within, (session) =>
    writingNext(session, within).write({ name, steps: [createTable(table, columns)] }),
  );
  const written = [file, lock ?? [], types].flat();
  renderWritten(within.output, written);
  return written;
}

function renderNext(next: readonly NextCommand[], output: Output): void {
  const width = Math.max(...next.map(({ command }) => command.length));
  output.result("next:");
  for (const { command, does } of next) output.result(`  ${command.padEnd(width)}  ${does}`);
}
