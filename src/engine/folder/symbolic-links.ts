/**
 * Symbolic links in a database's folder are not followed, because they may lead to files that are not the database's.
 * The folder itself may be a link: its user has chosen it.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";

/** The folders of a table in which the engine creates, replaces or removes files whose names others can predict. */
const parts = [".", "_indices", "_refs", "_refs/tags", "_refs/branches", "tree", "tree/lance-migrate"];

/** Throws ERR_SYMBOLIC_LINK if a table's folder is a link, or contains one in the place of a folder that the engine uses. */
export function checkTableFolder(folder: string | undefined, table: string): void {
  if (folder === undefined) return; // an object store has no links
  const home = `${table}.lance`;
  checkLink(folder, home);
  for (const part of parts)
    for (const entry of entriesOf(join(folder, home, part)))
      if (entry.isSymbolicLink()) throw linkError(join(home, part, entry.name));
}

/** Throws ERR_SYMBOLIC_LINK if the entry of the folder is a link. */
export function checkLink(folder: string, entry: string): void {
  const found = lstatSync(join(folder, entry), { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true) throw linkError(entry);
}

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return []; // it does not exist, or the engine reports what is wrong with it
  }
}

function linkError(path: string) {
  return new MigrateError("ERR_SYMBOLIC_LINK", { path });
}
