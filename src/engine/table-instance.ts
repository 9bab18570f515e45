/** Identifies a table of a folder among all tables that ever had its name: each new table has a new folder. */
import { stat } from "node:fs/promises";
import { join } from "node:path";

/** Undefined if there is no such table, or if the file system does not record when folders were created. */
export async function instanceIn(folder: string, table: string): Promise<string | undefined> {
  const found = await stat(join(folder, `${table}.lance`), { bigint: true }).catch(() => undefined);
  // The inode number of a removed folder is reused, so the time of creation is needed too.
  if (found === undefined || found.birthtimeNs === 0n) return undefined;
  return `${found.dev} ${found.ino} ${found.birthtimeNs}`;
}
