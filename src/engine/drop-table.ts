/**
 * Drops a table of a folder in one step. The engine removes the files one by one, so a drop that is killed leaves a
 * folder that is not a table but whose name is taken. Therefore the folder is first renamed into the private folder,
 * and removed there.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Connection, NativeDatabase } from "./engine.ts";
import { move } from "./folder/move.ts";
import { entryName, inPrivateFolder, removeEntries } from "./folder/private-folder.ts";
import { checkTableFolder } from "./folder/symbolic-links.ts";

/** False if there is no such table. */
export async function dropTable(db: Connection | NativeDatabase, folder: string, name: string): Promise<boolean> {
  checkTableFolder(folder, name);
  const home = join(folder, `${name}.lance`);
  if (!existsSync(home)) return false;
  try {
    inPrivateFolder(folder, (path) => move(home, join(path, entryName("dropped", randomUUID()))));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !existsSync(home)) return false;
    // A folder of an overlay's lower layer, or a mount point, can't be renamed.
    if (code !== "EXDEV" && code !== "EBUSY") throw error;
    await db.dropTable(name);
    return true;
  }
  await removeDropped(folder);
  return true;
}

/**
 * Removes what is left of dropped tables, including those that others dropped. A later run removes what can't be
 * removed now.
 */
export async function removeDropped(folder: string): Promise<void> {
  await removeEntries(folder, (kind) => kind === "dropped");
}
