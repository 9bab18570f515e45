/**
 * Creates tables so that exactly one of several racing creators succeeds. With the engine's own create, two or more
 * succeed, and the last one's table overwrites the others'. In a folder, the table is therefore created in a private
 * folder and renamed into place, which the file system allows only once. An object store has no rename; docs/internals/ledger.md
 * describes what is done there and which limits remain.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Column } from "../schema/data-type.ts";
import type { NewTables } from "../schema/table-format.ts";
import {
  connect,
  connectNatively,
  createEmptyTable,
  creationOptions,
  createFilledTable,
  openTable,
  type NativeDatabase,
  type NativeTable,
} from "./engine.ts";
import type { DatabaseLocation } from "./location.ts";
import { isTaken } from "./problem/engine-problem.ts";
import { StoreConflict } from "./problem/store-problem.ts";
import { move } from "./folder/move.ts";
import { entryName, inPrivateFolder, privateFolder, removeEntries } from "./folder/private-folder.ts";
import { checkTableFolder } from "./folder/symbolic-links.ts";

/** Longer than clocks are usually wrong: a private folder in use may have been made before the clock was corrected. */
const abandonedAfter = 24 * 3_600_000;

type Prepare = (table: NativeTable) => Promise<void>;
type Make = (db: NativeDatabase) => Promise<void>;

/**
 * Creates a table from an Arrow IPC file: its schema including metadata, and its rows. False if a table of that name
 * exists.
 */
export async function createTable(
  { uri, folder, storageOptions, newTables }: DatabaseLocation,
  name: string,
  file: Buffer,
): Promise<boolean> {
  const make = (db: NativeDatabase) => createFilledTable(db, name, file, "create");
  if (folder !== undefined) return await createInFolder(folder, name, make, newTables);
  const exists = async () => {
    const db = await connectNatively({ uri, storageOptions });
    return (await openTable(db, name, undefined).finally(() => db.close())) !== undefined;
  };
  return await createdOrTaken(name, () => makeIn({ uri, storageOptions }, make, newTables), exists);
}

/**
 * False if the name is taken. Throws StoreConflict if the engine is wrong about that: it takes for it any answer by which an
 * object store refuses to create an object, also one about another request at the same time.
 */
async function createdOrTaken(
  name: string,
  create: () => Promise<void>,
  exists: () => Promise<boolean>,
): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (!isTaken(error)) throw error;
    if (await exists()) return false;
    throw new StoreConflict(`table ${name}`);
  }
}

/** Makes sure that the table exists and is created exactly once. `prepare` runs before others can see the table. */
export async function createOnce(
  place: DatabaseLocation,
  name: string,
  columns: readonly Column[],
  prepare: Prepare,
): Promise<void> {
  const { folder } = place;
  if (folder === undefined) return await cloneInStore(place, name, columns, prepare);
  const isMade = await createInFolder(folder, name, emptyTable(name, columns, prepare));
  const problem = isMade ? undefined : leftoverIn(folder, name);
  if (problem !== undefined) throw new Error(problem);
}

/**
 * Why an existing folder is not a table, as text; undefined if it is one, or if there is no folder. It may still become
 * a table: the engine's own create writes rows first.
 */
export function leftoverIn(folder: string, name: string): string | undefined {
  const home = join(folder, `${name}.lance`);
  const versions = join(home, "_versions");
  if (!existsSync(home)) return undefined;
  if (existsSync(versions) && readdirSync(versions).some((file) => file.endsWith(".manifest"))) return undefined;
  return `${home} has files but no table: a drop of ${name} did not end, or another program is creating it; if no program is doing either, remove that folder`;
}

function emptyTable(name: string, columns: readonly Column[], prepare: Prepare): Make {
  return async (db) => {
    await createEmptyTable(db, name, columns);
    await prepare(await db.openTable(name, []));
  };
}

async function createInFolder(folder: string, name: string, make: Make, newTables?: NewTables): Promise<boolean> {
  checkTableFolder(folder, name);
  const home = join(folder, `${name}.lance`);
  if (existsSync(home) && readdirSync(home).length > 0) return false;
  const workshop = inPrivateFolder(folder, (path) => {
    const made = join(path, entryName("creating", randomUUID()));
    mkdirSync(made);
    return made;
  });
  const made = statSync(workshop).mtimeMs;
  try {
    await makeIn({ uri: workshop, folder: workshop }, make, newTables);
    return moveInto(join(workshop, `${name}.lance`), home);
  } finally {
    // What another program has open stays for a later run.
    await rm(workshop, { recursive: true, force: true }).catch(() => undefined);
    await removeAbandoned(folder, made);
  }
}

/**
 * In an object store, the table is created under a private prefix and cloned into place. Unlike a create, a clone can't
 * be rebased onto another table's first version, so the engine refuses it if there is one (test/fault/store-race.ts).
 */
async function cloneInStore(
  place: DatabaseLocation,
  name: string,
  columns: readonly Column[],
  prepare: Prepare,
): Promise<void> {
  const workshop = { ...place, uri: `${place.uri.replace(/\/+$/, "")}/${privateFolder}/${randomUUID()}` };
  const prepared = () => makeIn(workshop, emptyTable(name, columns, prepare));
  // No other creator uses that prefix.
  await createdOrTaken(name, prepared, async () => false);
  const [db, apart] = [await connect(place), await connect(workshop)];
  try {
    await db.cloneTable(name, `${workshop.uri}/${name}.lance`, { isShallow: true });
  } catch (error) {
    // Another creator was first, or the clone succeeded and only opening it failed.
    if ((await openTable(db, name, undefined)) === undefined)
      throw isTaken(error) ? new StoreConflict(`table ${name}`) : error;
  } finally {
    await apart.dropTable(name);
    apart.close();
    db.close();
  }
}

async function makeIn(
  place: Pick<DatabaseLocation, "uri" | "folder" | "storageOptions">,
  make: Make,
  newTables: NewTables = {},
): Promise<void> {
  const storageOptions = { ...place.storageOptions, ...creationOptions(newTables) };
  const db = await connectNatively({ ...place, storageOptions });
  try {
    await make(db);
  } finally {
    db.close();
  }
}

/** Renames a table of a folder, which nothing may be using. False if a table of the new name exists. */
export function renameTable(folder: string, from: string, to: string): boolean {
  for (const table of [from, to]) checkTableFolder(folder, table);
  return moveInto(join(folder, `${from}.lance`), join(folder, `${to}.lance`));
}

function moveInto(from: string, to: string): boolean {
  try {
    move(from, to);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (["ENOTEMPTY", "EEXIST", "EPERM", "EACCES"].includes(code) && existsSync(to)) return false;
    throw error;
  }
}

/**
 * Removes what killed processes have left in the private folder, but nothing that may be in use. `now` is the time by
 * the clock of the file system: the clock of a machine may be hours ahead of it.
 */
async function removeAbandoned(folder: string, now: number): Promise<void> {
  await removeEntries(folder, (_, changedAt) => now - changedAt > abandonedAfter);
}
