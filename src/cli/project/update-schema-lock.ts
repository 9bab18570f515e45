/** Keeps `migrations/lock.json` up to date with the migrations. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { catchMigrateError, firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { lockName, lockProblem } from "../../migrations/schema-lock.ts";
import { readGenerated, writeGenerated } from "../../migrations/generated-file.ts";
import { lockOf, schemaRevisions, type SchemaRevision } from "../../run/schema-history.ts";
import type { Session } from "../../session/session.ts";
import type { Revisions } from "../command/additions.ts";
import type { Output } from "../command/output.ts";

/**
 * The error if the lock file is out of date or unreadable; undefined if it is up to date, or missing: it is optional.
 */
export function staleLock(
  { folder }: Pick<Session, "folder">,
  revisions: readonly SchemaRevision[],
): MigrateError | undefined {
  const found = catchMigrateError(
    () => readGenerated(join(folder, lockName), "ERR_LOCK_FILE"),
    (unreadable) => unreadable,
  );
  if (isMigrateError(found)) return found;
  const problem = found === undefined ? undefined : lockProblem(found, lockOf(revisions));
  return problem === undefined
    ? undefined
    : new MigrateError("ERR_LOCK_STALE", { file: join(relative(process.cwd(), folder), lockName), problem });
}

/**
 * Prints a note if the lock file is out of date. It replays all migrations, so call it only if something is pending. With
 * --json, nothing is printed and nothing is replayed: `migrate lint --json` has it.
 */
export async function noteStaleLock(session: Pick<Session, "folder" | "options">, output: Output): Promise<void> {
  const { folder, options } = session;
  // The migrations of a bundle are not those of the folder.
  const isBundle = options.migrations.list().some(({ bundle }) => bundle !== undefined);
  if (output.json || isBundle || !existsSync(join(folder, lockName))) return;
  try {
    const stale = staleLock(session, await schemaRevisions(options));
    if (stale !== undefined) output.progress(`note: ${stale.message}`);
  } catch (error) {
    // Only a note: the run itself reports what is wrong with the migrations.
    if (!isMigrateError(error)) throw error;
  }
}

/** Writes the lock file and gives its path. Throws ERR_LOCK_FILE. */
export function writeLockOf({ folder }: Pick<Session, "folder">, revisions: readonly SchemaRevision[]): string {
  const path = join(folder, lockName);
  writeGenerated(path, lockOf(revisions), "ERR_LOCK_FILE");
  return path;
}

/** Updates the lock file after a migration was written, and gives its path; undefined if that failed. */
export async function updateLock(session: Session, revisions: Revisions, output: Output): Promise<string | undefined> {
  try {
    return writeLockOf(session, await revisions());
  } catch (error) {
    // A failure is only a note, because the migration that was asked for is written.
    output.progress(`note: ${lockName} is not written: ${firstLine(error)}`);
    return undefined;
  }
}
