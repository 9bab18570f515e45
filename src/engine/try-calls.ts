/** Tries calls in a temporary database. A `try…` gives what goes wrong, as text; undefined if the call succeeds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Column } from "../schema/data-type.ts";
import { cloneTables } from "./clone-tables.ts";
import { dropColumns, DropRefused } from "./drop-columns.ts";
import { connect, createEmptyTable, type Connection, type EngineTable } from "./engine.ts";
import { engineProblem } from "./problem/engine-problem.ts";

/** Drops columns of a copy of a table of a folder. */
export async function tryDropping(from: string, table: string, paths: readonly string[]): Promise<string | undefined> {
  return await onTable(
    table,
    (_, folder) => cloneTables(from, [table], folder),
    (copy) => problemOf(dropColumns(copy, paths)),
  );
}

export async function tryOnEmptyTable(
  columns: readonly Column[],
  call: (table: EngineTable) => Promise<unknown>,
): Promise<string | undefined> {
  return await onEmptyTable(columns, (table) => problemOf(call(table)));
}

/** On a table without rows, the engine answers as on one with rows. Throws if no table can have these columns. */
export async function onEmptyTable<Result>(
  columns: readonly Column[],
  ask: (table: EngineTable) => Promise<Result>,
): Promise<Result> {
  return await onTable("t", (db) => createEmptyTable(db, "t", columns), ask);
}

async function problemOf(call: Promise<unknown>): Promise<string | undefined> {
  return await call.then(
    () => undefined,
    (error: unknown) => (error instanceof DropRefused ? error.reason : engineProblem(error)),
  );
}

async function onTable<Result>(
  name: string,
  create: (db: Connection, folder: string) => Promise<void>,
  work: (table: EngineTable) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const db = await connect({ uri: folder });
  try {
    await create(db, folder);
    return await work(await db.openTable(name));
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
