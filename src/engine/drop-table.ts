/**
 * Drops a table of a folder in one step. The engine removes the files one by one, so a drop that is killed leaves a
 * folder that is not a table but whose name is taken. Therefore the folder is first renamed into the private folder,
 * and removed there.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, privateFolder } from "./create-table.ts";
import type { Connection } from "./engine.ts";

/** The prefix of the folders of dropped tables. */
const prefix = "dropped-";
/** At most this many renames: another process that cleans up may remove the private folder meanwhile. */
const mostTries = 10;

/** False if there is no such table. */
export async function dropTable(db: Connection, folder: string, name: string): Promise<boolean> {
  const home = join(folder, `${name}.lance`);
  if (!existsSync(home)) return false;
  try {
    moveAway(home, folder);
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

function moveAway(home: string, folder: string): void {
  const away = join(folder, privateFolder);
  for (let tries = 1; ; tries++) {
    makeFolder(away, folder);
    try {
      return renameSync(home, join(away, prefix + randomUUID()));
    } catch (error) {
      const isToRepeat = (error as NodeJS.ErrnoException).code === "ENOENT" && tries < mostTries && existsSync(home);
      if (!isToRepeat) throw error;
    }
  }
}

/**
 * Removes what is left of dropped tables, including those that others dropped. A later run removes what can't be
 * removed now.
 */
export async function removeDropped(folder: string): Promise<void> {
  const away = join(folder, privateFolder);
  try {
    for (const entry of readdirSync(away))
      if (entry.startsWith(prefix))
        await rm(join(away, entry), { recursive: true, force: true }).catch(() => undefined);
    rmdirSync(away);
  } catch {
    // There is no private folder, or another process is using it.
  }
}
