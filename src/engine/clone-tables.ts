/**
 * Copies of tables that share their files. A shallow clone is a manifest that refers to the files of its source by
 * their paths. No operation on a clone, including drop and cleanup, changes these files (test/contract/clone.test.ts).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dropColumns, DropRefused } from "./drop-columns.ts";
import { connect, engineProblem } from "./engine.ts";

/** Clones tables of a folder into another folder: their newest version, under the same number and with its indexes. */
export async function cloneTables(from: string, tables: readonly string[], to: string): Promise<void> {
  const db = await connect({ uri: to });
  try {
    for (const table of tables) await db.cloneTable(table, join(from, `${table}.lance`), { isShallow: true });
  } finally {
    db.close();
  }
}

/** Drops columns of a temporary copy of a table. Gives what goes wrong, as text; undefined if the drop works. */
export async function tryDropping(from: string, table: string, paths: readonly string[]): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const db = await connect({ uri: folder });
  try {
    await cloneTables(from, [table], folder);
    const copy = await db.openTable(table);
    return await dropColumns(copy, paths).then(
      () => undefined,
      (error: unknown) => (error instanceof DropRefused ? error.reason : engineProblem(error)),
    );
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
