/**
 * Copies of tables that share their files. A shallow clone is a manifest that names the files of its source by their places;
 * whatever is done to it, dropping and cleaning up included, leaves these files alone (test/contract/clone.test.ts).
 */
import { join } from "node:path";
import { connect } from "./engine.ts";

/** Clones tables of a folder as they are now into another folder: their newest version, under its number, with its indexes. */
export async function cloneTables(from: string, tables: readonly string[], to: string): Promise<void> {
  const db = await connect({ uri: to });
  try {
    for (const table of tables) await db.cloneTable(table, join(from, `${table}.lance`), { isShallow: true });
  } finally {
    db.close();
  }
}
