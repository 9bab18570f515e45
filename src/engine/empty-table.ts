/**
 * A temporary table without rows, in a folder of its own. The engine answers a call on it as it would on a table with
 * rows.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Column } from "../schema/data-type.ts";
import { connect, createEmptyTable, engineProblem, type EngineTable } from "./engine.ts";

/** Gives what goes wrong in `work`, as text; undefined if it succeeds. Throws if no table can have these columns. */
export async function onEmptyTable(
  columns: readonly Column[],
  work: (table: EngineTable) => Promise<unknown>,
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const db = await connect({ uri: folder });
  try {
    await createEmptyTable(db, "t", columns);
    const table = await db.openTable("t");
    return await work(table).then(() => undefined, engineProblem);
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
