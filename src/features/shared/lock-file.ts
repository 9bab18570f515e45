/** Compares `migrations/lock.json` with the migrations, and writes it. */
import { join, relative } from "node:path";
import { catchMigrateError, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { lockName, lockProblem } from "../../migrations/schema-lock.ts";
import { readGenerated, writeGenerated } from "../../migrations/generated-file.ts";
import { lockOf, type SchemaRevision } from "../../run/schema-history.ts";
import type { Session } from "../../session/session.ts";

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

/** Writes the lock file and gives its path. Throws ERR_LOCK_FILE. */
export function writeLockOf({ folder }: Pick<Session, "folder">, revisions: readonly SchemaRevision[]): string {
  const path = join(folder, lockName);
  writeGenerated(path, lockOf(revisions), "ERR_LOCK_FILE");
  return path;
}
