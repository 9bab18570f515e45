/**
 * Copies of tables that share their files. A shallow clone is a manifest that refers to the files of its source by
 * their paths. No operation on a clone, including drop and cleanup, changes these files (test/contract/clone.test.ts).
 */
import { join } from "node:path";
import { connect } from "./engine.ts";
import { checkTableFolder } from "./folder/symbolic-links.ts";

/** Clones tables of a folder into another folder: their newest version, under the same number and with its indexes. */
export async function cloneTables(from: string, tables: readonly string[], to: string): Promise<void> {
  const db = await connect({ uri: to });
  try {
    for (const table of tables) {
      checkTableFolder(from, table);
      await db.cloneTable(table, join(from, `${table}.lance`), { isShallow: true });
    }
  } finally {
    db.close();
  }
}
