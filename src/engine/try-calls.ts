/** Tries calls in a database of their own. A `try…` gives what goes wrong, as text; undefined if the call succeeds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Column } from "../schema/data-type.ts";
import { cloneTables } from "./clone-tables.ts";
import { dropColumns, WriteRefused } from "./checked-writes.ts";
import { connect, connectInMemory, createEmptyTable, type NativeTable } from "./engine.ts";
import { engineProblem } from "./problem/engine-problem.ts";

/** Drops columns of a copy of a table of a folder. */
export async function tryDropping(from: string, table: string, paths: readonly string[]): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const db = await connect({ uri: folder });
  try {
    await cloneTables(from, [table], folder);
    return await problemOf(dropColumns(await db.openTable(table), paths));
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export async function tryOnEmptyTable(
  columns: readonly Column[],
  call: (table: NativeTable) => Promise<unknown>,
): Promise<string | undefined> {
  return await onEmptyTable(columns, (table) => problemOf(call(table)));
}

/** On a table without rows, the engine answers as on one with rows. Throws if no table can have these columns. */
export async function onEmptyTable<Result>(
  columns: readonly Column[],
  ask: (table: NativeTable) => Promise<Result>,
): Promise<Result> {
  const db = await connectInMemory();
  try {
    await createEmptyTable(db, "t", columns);
    return await ask(await db.openTable("t", []));
  } finally {
    db.close();
  }
}

async function problemOf(call: Promise<unknown>): Promise<string | undefined> {
  return await call.then(
    () => undefined,
    (error: unknown) => (error instanceof WriteRefused ? error.reason : engineProblem(error)),
  );
}
