/** Keeping `history.d.ts` as the migrations are. */
import { isMigrateError } from "../errors.ts";
import { momentsOf } from "../run/moments.ts";
import { historyFile, isOurs, isWritten, writeTypes } from "../scaffold/written-types.ts";
import type { Session } from "../session.ts";
import type { Output } from "./output.ts";

/** The file, where there is one that `migrate types` wrote. */
export function knownHistory({ folder }: Session): string | undefined {
  const { path } = historyFile(folder, []);
  return isOurs(path) ? path : undefined;
}

/** Where there is one; `options` may be those of a project that has no migration yet. */
export async function updateHistory(session: Session, options: Session["options"], output: Output): Promise<void> {
  if (knownHistory(session) === undefined) return;
  try {
    const file = historyFile(session.folder, await momentsOf(options));
    if (!isWritten(file)) writeTypes(file);
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    output.progress(`note: history.d.ts is not written: ${error.message}`);
  }
}
