/**
 * Copies of tables that share their files. A shallow clone is a manifest that names the files of its source by their places;
 * whatever is done to it, dropping and cleaning up included, leaves these files alone (test/contract/clone.test.ts).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dropColumns, DropRefused } from "./drop-columns.ts";
import { connect, engineProblem } from "./engine.ts";

/** Clones tables of a folder as they are now into another folder: their newest version, under its number, with its indexes. */
export async function cloneTables(from: string, tables: readonly string[], to: string): Promise<void> {
  const db = await connect({ uri: to });
  try {
    for (const table of tables) await db.cloneTable(table, join(from, `${table}.lance`), { isShallow: true });
  } finally {
    db.close();
  }
}

/** Drops columns of a copy of a table of a folder. Gives what goes wrong; undefined where it works. */
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
