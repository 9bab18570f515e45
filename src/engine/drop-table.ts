/**
 * Dropping a table of a folder in one step. The engine removes its files one by one: a drop that is killed leaves a folder
 * that is no table, and whose name is taken. So the folder is renamed into the private folder first, and removed there.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, privateFolder } from "./create-table.ts";
import type { Connection } from "./engine.ts";

/** Folders of these names are tables that were dropped. */
const prefix = "dropped-";
/** Who clears away its own may remove the private folder at the same moment. */
const mostTries = 10;

/** False where there is no such table. */
export async function dropTable(db: Connection, folder: string, name: string): Promise<boolean> {
  const home = join(folder, `${name}.lance`);
  if (!existsSync(home)) return false;
  try {
    moveAway(home, folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !existsSync(home)) return false;
    // A folder of a lower layer of an overlay, or one that is mounted.
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

/** Removes what is left of tables that were dropped, also by others. What can't be removed now is left to a later run. */
export async function removeDropped(folder: string): Promise<void> {
  const away = join(folder, privateFolder);
  try {
    for (const entry of readdirSync(away))
      if (entry.startsWith(prefix))
        await rm(join(away, entry), { recursive: true, force: true }).catch(() => undefined);
    rmdirSync(away);
  } catch {
    // There is none, or somebody else is at work in it.
  }
}
