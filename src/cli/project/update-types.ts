/** Keeps the files of `migrate types` up to date with the migrations. */
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Declared } from "../../commands/lint/rules/rule.ts";
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
} from "../../scaffold/types/types-file.ts";
import type { Session } from "../../session/session.ts";
import type { Output } from "../command/output.ts";

/** The file of row types and schemas, if the configuration names one. Throws ERR_CONFIG_INVALID. */
export function applicationPath({ config, folder: migrations }: Session): string | undefined {
  const { types, folder, file } = config;
  if (types === undefined) return undefined;
  const path = resolve(folder, types);
  if (dirname(path) === migrations)
    throw new MigrateError("ERR_CONFIG_INVALID", { file, problem: "types: must be outside the migrations folder" });
  return path;
}

/** The history file, with which migrations are type-checked, if there is one that `migrate types` wrote. */
export function knownHistory({ folder }: Session): string | undefined {
  const path = join(folder, historyName);
  return isOurs(path) ? path : undefined;
}

/** The schema after each migration; throws what keeps the migrations from working. */
export type Revisions = () => Promise<readonly SchemaRevision[]>;

/** Updates the existing files, or just that of the history, and gives those that were written. */
export async function updateTypes(
  session: Session,
  revisions: Revisions,
  output: Output,
  which: "all" | "history" = "all",
): Promise<readonly string[]> {
  try {
    const application = which === "all" ? applicationPath(session) : undefined;
    if (application !== undefined) checkOurs(application);
    const isTyped = application !== undefined && existsSync(application);
    const isKnown = knownHistory(session) !== undefined;
    if (!isKnown && !isTyped) return [];
    const all = await revisions();
    const files = [
      ...(isKnown ? [historyFile(session.folder, all)] : []),
      ...(isTyped ? [applicationFile(application, databaseAfter(all))] : []),
    ];
    const stale = files.filter((file) => !isWritten(file));
    for (const file of stale) writeTypes(file);
    return stale.map(({ path }) => path);
  } catch (error) {
    // A failure is only a note, because these files are not what the command was asked for.
    output.progress(`note: the files of migrate types were not updated: ${firstLine(error)}`);
    return [];
  }
}

const mostRevisions = 50;

/** The tables that the application's types describe, if these are older than the last migration. */
export function typedTables(session: Session, revisions: readonly SchemaRevision[]): Declared | undefined {
  const path = applicationPath(session);
  try {
    if (path === undefined || !isOurs(path)) return undefined;
    const text = textAt(path);
    // A file may have been written long ago or changed by hand, so only the latest revisions are compared with it.
    for (let back = 0; back < Math.min(mostRevisions, revisions.length); back++) {
      const tables = databaseAfter(revisions.slice(0, revisions.length - back));
      if (applicationFile(path, tables).text !== text) continue;
      const hint = "rewrite it with migrate types, and change the code that uses it";
      return back === 0 ? undefined : { file: relative(process.cwd(), path), tables, hint };
    }
    return undefined;
  } catch (error) {
    if (isMigrateError(error, "ERR_TYPES_FILE")) return undefined;
    throw error;
  }
}
