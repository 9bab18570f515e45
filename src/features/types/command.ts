import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { typesPattern } from "./settings.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import { databaseAfter, schemaRevisions } from "../../run/schema-history.ts";
import { applicationFile, checkOurs, historyFile, isWritten, type TypesFile } from "./types-file.ts";
import type { Session } from "../../session/session.ts";
import { defineCommand, withAnyTarget } from "../../cli/command/command.ts";
import type { CommandResult } from "../../cli/command/exit-code.ts";
import { patternFlag, switchFlag } from "../../cli/command/flags.ts";
import type { Output } from "../../cli/command/output.ts";
import { applicationPaths, settingsIn, writeNoted } from "./update-types.ts";
import { authoring } from "../shared/authoring.ts";
import { renderWritten, shownPath } from "../shared/written-files.ts";
import type * as shapes from "./json.ts";

const outProblem = "must be a .ts or .py file for the application, outside the migrations folder";

export const typesCommand = defineCommand({
  describe: "write types of the tables after each migration, and of their rows for the application",
  examples: [
    ["migrate types", "update the types that migrations are checked with"],
    ["migrate types --out src/db.ts", "also write the application's row types"],
    ["migrate types --out app/models.py", "write models for a Python application"],
    ["migrate types --check", "in CI: exit with 3 if a file is out of date"],
  ],
  exits: { pending: "with --check: a file is missing or out of date" },
  flags: {
    check: switchFlag("write nothing; exit with 3 if a file is out of date"),
    out: patternFlag(
      "a file for row types and Arrow schemas, such as src/db.ts or app/models.py",
      typesPattern,
      outProblem,
      {
        value: "FILE",
      },
    ),
  },
  async run(context) {
    const { flags, output, underWay } = context;
    const { check, out } = flags;
    return await withAnyTarget(context, async (session) => {
      const { folder: migrations } = session;
      // --out takes precedence over the configuration.
      const paths = out === undefined ? applicationPaths(session) : [resolve(out)];
      if (paths.some((path) => dirname(path) === migrations))
        throw new MigrateError("ERR_USAGE", { problem: `--out ${outProblem}` });
      const revisions = await schemaRevisions(authoring(session));
      const files = [
        historyFile(migrations, revisions),
        ...paths.map((path) => applicationFile(path, databaseAfter(revisions), settingsIn(session).standardSchema)),
      ];
      const stale = files.filter((one) => !isWritten(one));
      for (const { path } of stale) checkOurs(path);
      if (check === true) return report(files, stale, out, output);
      const created = out === undefined || existsSync(out) ? undefined : resolve(out);
      underWay(true);
      for (const one of stale) writeNoted(one, output);
      output.data<typeof shapes.types>({ files: files.map(fileLabel), written: stale.map(fileLabel) });
      renderWritten(
        output,
        stale.map(({ path }) => path),
      );
      if (created !== undefined) noteUnnamed(created, session, output);
      if (stale.length === 0) output.result(`nothing to do: ${listOf(files)} up to date`);
      return undefined;
    });
  },
});

function report(
  files: readonly TypesFile[],
  stale: readonly TypesFile[],
  out: string | undefined,
  output: Output,
): CommandResult {
  output.data<typeof shapes.types>({ files: files.map(fileLabel), stale: stale.map(fileLabel) });
  if (stale.length === 0) {
    output.result(`equal: ${listOf(files)} up to date`);
    return undefined;
  }
  const [old, missing] = [true, false].map((exists) => stale.filter(({ path }) => existsSync(path) === exists));
  const words = [
    ...(missing!.length === 0 ? [] : [`${listOf(missing!)} missing`]),
    ...(old!.length === 0 ? [] : [`${listOf(old!)} out of date`]),
  ];
  const next = `migrate types${out === undefined ? "" : ` --out ${out}`}`;
  output.problem(`${words.join(", ")}; ${next} writes ${stale.length === 1 ? "it" : "them"}`);
  return "pending";
}

/** Printed once, when the file is created: other commands look only at files that the setting names. */
function noteUnnamed(path: string, session: Session, output: Output): void {
  if (applicationPaths(session).includes(path)) return;
  const own = relative(session.config.folder, path).replaceAll("\\", "/");
  const named = [settingsIn(session).types ?? []].flat();
  const [verb, value] = named.length === 0 ? ["add", JSON.stringify(own)] : ["set", listText([...named, own])];
  output.progress(
    `note: types --check looks at ${shownPath(path)} only with --out; to change that, ${verb} types: ${value} in the configuration`,
  );
}

function listText(paths: readonly string[]): string {
  return `[${paths.map((path) => JSON.stringify(path)).join(", ")}]`;
}

function fileLabel({ path }: TypesFile): string {
  return shownPath(path);
}

function listOf(files: readonly TypesFile[]): string {
  return `${inWords(files.map(fileLabel))} ${files.length === 1 ? "is" : "are"}`;
}

function inWords(names: readonly string[]): string {
  return names.length < 3 ? names.join(" and ") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
