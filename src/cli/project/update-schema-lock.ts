/** Keeps `migrations/lock.json` up to date with the migrations. */
import { join, relative } from "node:path";
import { firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { lockName, lockProblem } from "../../migrations/schema-lock.ts";
import { readGenerated, writeGenerated } from "../../migrations/generated-file.ts";
import { lockOf, schemaRevisions } from "../../run/schema-history.ts";
import type { Session } from "../../session/session.ts";
import type { Output } from "../command/output.ts";

/**
 * The error if the lock file is out of date or unreadable; undefined if it is up to date, or missing: it is optional.
 * Throws what keeps the migrations from working.
 */
export async function staleLock({ folder, options }: Session): Promise<MigrateError | undefined> {
  let found: string | undefined;
  try {
    found = readGenerated(join(folder, lockName), "ERR_LOCK_FILE");
  } catch (error) {
    if (!isMigrateError(error, "ERR_LOCK_FILE")) throw error;
    return error;
  }
  const problem = found === undefined ? undefined : lockProblem(found, lockOf(await schemaRevisions(options)));
  return problem === undefined
    ? undefined
    : new MigrateError("ERR_LOCK_STALE", { file: join(relative(process.cwd(), folder), lockName), problem });
}

/** Writes the lock file and gives its path. Throws what keeps the migrations from working. */
export async function writeLockOf({ folder, options }: Session): Promise<string> {
  const path = join(folder, lockName);
  writeGenerated(path, lockOf(await schemaRevisions(options)), "ERR_LOCK_FILE");
  return path;
}

/** Updates the lock file after a migration was written. */
export async function updateLock(session: Session, output: Output): Promise<void> {
  try {
    await writeLockOf(session);
  } catch (error) {
    // A failure is only a note, because the migration that was asked for is written.
    output.progress(`note: ${lockName} is not written: ${firstLine(error)}`);
  }
}
