/** What tells a table of a folder from every other table that had its name: the folder of a new table is a new one. */
import { stat } from "node:fs/promises";
import { join } from "node:path";

/** Undefined where there is no such table, or the file system does not tell when folders were made. */
export async function instanceIn(folder: string, table: string): Promise<string | undefined> {
  const found = await stat(join(folder, `${table}.lance`), { bigint: true }).catch(() => undefined);
  // The number of a folder that was removed is given to the next one.
  if (found === undefined || found.birthtimeNs === 0n) return undefined;
  return `${found.dev} ${found.ino} ${found.birthtimeNs}`;
}
