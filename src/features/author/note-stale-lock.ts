import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Output } from "../../cli/command/output.ts";
import { staleLock } from "../shared/lock-file.ts";
import { isMigrateError } from "../../errors/migrate-error.ts";
import { lockName } from "../../migrations/schema-lock.ts";
import { schemaRevisions } from "../../run/schema-history.ts";
import type { Session } from "../../session/session.ts";

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
