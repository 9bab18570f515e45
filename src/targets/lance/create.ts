/**
 * Creating a table so that of n racing creators exactly one succeeds. The engine's own createTable lets two and more
 * win and the last overwrite the others. In a folder the table is therefore made in a private folder and renamed into
 * place, which the file system does for one of them only. An object store has no rename: there the engine's create is
 * all there is, and what is left is written down in docs/ledger.md.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Column } from "../../schema/data-type.ts";
import { connect, createEmptyTable, type EngineTable } from "./engine.ts";
import type { Place } from "./uri.ts";

const privatePrefix = ".lance-migrate-";
const abandonedAfter = 3_600_000;

/** Creates the table; false when there is one of that name already. `prepare` runs before anybody can see it. */
export async function createAtomically(
  place: Place,
  name: string,
  columns: readonly Column[],
  prepare?: (table: EngineTable) => Promise<void>,
): Promise<boolean> {
  if (place.folder === undefined) return await createInStore(place, name, columns, prepare);
  const home = join(place.folder, `${name}.lance`);
  if (existsSync(home) && readdirSync(home).length > 0) return false;
  const workshop = join(place.folder, `${privatePrefix}${randomUUID()}`);
  mkdirSync(workshop, { recursive: true });
  try {
    await createEmptyIn({ uri: workshop }, name, columns, prepare);
    return moveInto(join(workshop, `${name}.lance`), home);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
    removeAbandoned(place.folder);
  }
}

async function createInStore(
  place: Place,
  name: string,
  columns: readonly Column[],
  prepare: ((table: EngineTable) => Promise<void>) | undefined,
): Promise<boolean> {
  try {
    await createEmptyIn(place, name, columns, prepare);
    return true;
  } catch (error) {
    if (/already exists/.test(String(error))) return false;
    throw error;
  }
}

async function createEmptyIn(
  place: Pick<Place, "uri" | "storageOptions">,
  name: string,
  columns: readonly Column[],
  prepare: ((table: EngineTable) => Promise<void>) | undefined,
): Promise<void> {
  const db = await connect(place);
  try {
    await createEmptyTable(db, name, columns);
    if (prepare !== undefined) await prepare(await db.openTable(name));
  } finally {
    db.close();
  }
}

function moveInto(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (["ENOTEMPTY", "EEXIST", "EPERM", "EACCES"].includes(code) && existsSync(to)) return false;
    throw error;
  }
}

/** A creator that was killed leaves its private folder; the next one clears it away, but never one that may be in use. */
function removeAbandoned(folder: string): void {
  for (const entry of readdirSync(folder)) {
    if (!entry.startsWith(privatePrefix)) continue;
    const path = join(folder, entry);
    try {
      if (Date.now() - statSync(path).mtimeMs > abandonedAfter) rmSync(path, { recursive: true, force: true });
    } catch {
      // Someone else was quicker.
    }
  }
}
