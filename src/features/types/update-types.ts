/** Keeps the files of `migrate types` up to date with the migrations. */
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { databaseAfter, type SchemaRevision } from "../../run/schema-history.ts";
import {
  applicationFile,
  checkOurs,
  historyFile,
  historyName,
  isOurs,
  isWritten,
  textAt,
  writeTypes,
  type TypesFile,
} from "./types-file.ts";
import type { Session } from "../../session/session.ts";
import type { Described, Revisions } from "../../cli/command/additions.ts";
import type { Output } from "../../cli/command/output.ts";
import type { TypesSettings } from "./settings.ts";

/** The configuration with what this feature adds to it. */
export function settingsIn({ config }: Session): Session["config"] & TypesSettings {
  return config;
}

/** The files of row types and schemas that the configuration names. Throws ERR_CONFIG_INVALID. */
export function applicationPaths(session: Session): readonly string[] {
  const { folder: migrations } = session;
  const { types = [], folder, file } = settingsIn(session);
  const paths = [types].flat().map((path) => resolve(folder, path));
  if (paths.some((path) => dirname(path) === migrations))
    throw new MigrateError("ERR_CONFIG_INVALID", { file, problem: "types: must be outside the migrations folder" });
  return paths;
}

/** The history file, with which migrations are type-checked, if there is one that `migrate types` wrote. */
export function history({ folder }: Session): string | undefined {
  const path = join(folder, historyName);
  return isOurs(path) ? path : undefined;
}

/** Updates the existing files, or just that of the history, and gives those that were written. */
export async function update(
  session: Session,
  revisions: Revisions,
  output: Output,
  which?: "history",
): Promise<readonly string[]> {
  try {
    const applications = which === "history" ? [] : applicationPaths(session);
    for (const path of applications) checkOurs(path);
    const typed = applications.filter((path) => existsSync(path));
    const isKnown = history(session) !== undefined;
    if (!isKnown && typed.length === 0) return [];
    const all = await revisions();
    const files = [
      ...(isKnown ? [historyFile(session.folder, all)] : []),
      ...typed.map((path) => applicationFile(path, databaseAfter(all), settingsIn(session).standardSchema)),
    ];
    const stale = files.filter((file) => !isWritten(file));
    for (const file of stale) writeNoted(file, output);
    return stale.map(({ path }) => path);
  } catch (error) {
    // A failure is only a note, because these files are not what the command was asked for.
    output.progress(`note: the files of migrate types were not updated: ${firstLine(error)}`);
    return [];
  }
}

/** Writes the file, and prints for which tables a model is missing from now on. */
export function writeNoted(file: TypesFile, output: Output): void {
  for (const gap of writeTypes(file)) output.progress(`note: in ${relative(process.cwd(), file.path)}, ${gap}`);
}

const mostRevisions = 50;

/** The oldest file of the application's types, and the revisions up to the one that it describes. */
export function described(session: Session, revisions: readonly SchemaRevision[]): Described | undefined {
  const typed = applicationPaths(session).flatMap(
    (path) => revisionsIn(path, revisions, settingsIn(session).standardSchema) ?? [],
  );
  return typed.toSorted((one, other) => one.revisions.length - other.revisions.length)[0];
}

/** Undefined if the file does not exist, or describes none of the latest revisions. */
function revisionsIn(
  path: string,
  revisions: readonly SchemaRevision[],
  standardSchema: boolean | undefined,
): Described | undefined {
  try {
    if (!isOurs(path)) return undefined;
    const text = textAt(path);
    // A file may have been written long ago or changed by hand, so only the latest revisions are compared with it.
    for (let back = 0; back < Math.min(mostRevisions, revisions.length); back++) {
      const typed = revisions.slice(0, revisions.length - back);
      if (applicationFile(path, databaseAfter(typed), standardSchema).text === text) return { path, revisions: typed };
    }
    return undefined;
  } catch (error) {
    if (isMigrateError(error, "ERR_TYPES_FILE")) return undefined;
    throw error;
  }
}
