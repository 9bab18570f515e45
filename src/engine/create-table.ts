/**
 * Creating a table so that of n racing creators exactly one succeeds. The engine's own create lets two and more win, and
 * the last one's table overwrites the others'. In a folder the table is therefore made in a private folder and renamed
 * into place, which the file system does for one of them only. An object store has no rename; docs/ledger.md says what
 * is done there and what is left.
 */
import { randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import type { Column } from "../schema/data-type.ts";
import type { NewTables } from "../schema/table-format.ts";
import {
  connect,
  createEmptyTable,
  creationOptions,
  createFilledTable,
  openTable,
  type Connection,
  type EngineTable,
} from "./engine.ts";
import type { DatabaseLocation } from "./location.ts";

/** Private folders stand in here, where no client looks for tables. */
export const privateFolder = ".lance-migrate";
/** Longer than a clock is set wrong, as a rule: what is in use was made before it was set right. */
const abandonedAfter = 24 * 3_600_000;

type Prepare = (table: EngineTable) => Promise<void>;
type Make = (db: Connection) => Promise<void>;

/** Creates a table, with the rows of an Arrow IPC file where there are some; false when there is one of that name already. */
export async function createTable(
  place: DatabaseLocation,
  name: string,
  columns: readonly Column[],
  file?: Buffer,
): Promise<boolean> {
  const make = file === undefined ? emptyTable(name, columns) : filledTable(name, file);
  const { folder, newTables } = place;
  if (folder !== undefined) return await createInFolder(folder, name, make, newTables);
  try {
    await makeIn(place, make, newTables);
    return true;
  } catch (error) {
    if (/already exists/.test(String(error))) return false;
    throw error;
  }
}

/** Creates a table of a folder with the schema, its metadata included, and the rows of an Arrow IPC file; false when there is one. */
export async function createTableFrom(folder: string, name: string, file: Buffer): Promise<boolean> {
  return await createInFolder(folder, name, filledTable(name, file));
}

/** Makes sure that the table is there, made by exactly one and never again; `prepare` runs before anybody can see it. */
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
 * Why a folder that is there is no table, in words; undefined where it is one. It may become one: the engine's own create
 * writes rows first.
 */
export function leftoverIn(folder: string, name: string): string | undefined {
  const home = join(folder, `${name}.lance`);
  const versions = join(home, "_versions");
  if (!existsSync(home)) return undefined;
  if (existsSync(versions) && readdirSync(versions).some((file) => file.endsWith(".manifest"))) return undefined;
  return `${home} has files but no table: a drop of ${name} did not end, or another program is creating it; if no program is doing either, remove that folder`;
}

function filledTable(name: string, file: Buffer): Make {
  return async (db) => await createFilledTable(db, name, file, "create");
}

function emptyTable(name: string, columns: readonly Column[], prepare?: Prepare): Make {
  return async (db) => {
    await createEmptyTable(db, name, columns);
    await prepare?.(await db.openTable(name));
  };
}

async function createInFolder(folder: string, name: string, make: Make, newTables?: NewTables): Promise<boolean> {
  const home = join(folder, `${name}.lance`);
  if (existsSync(home) && readdirSync(home).length > 0) return false;
  const workshop = join(folder, privateFolder, randomUUID());
  makeFolder(workshop, folder);
  const made = statSync(workshop).mtimeMs;
  try {
    await makeIn({ uri: workshop }, make, newTables);
    return moveInto(join(workshop, `${name}.lance`), home);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
    removeAbandoned(join(folder, privateFolder), made);
  }
}

/** Makes a folder in that of a database. */
export function makeFolder(path: string, folder: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    accessSync(folder, constants.W_OK); // of a read-only folder Node says that it does not exist
    throw error;
  }
}

/**
 * In an object store: made under a private prefix and cloned into place. Unlike a create, a clone that meets another
 * one's first version can't be rebased onto it, so the engine refuses it (test/fault/store-race.ts).
 */
async function cloneInStore(
  place: DatabaseLocation,
  name: string,
  columns: readonly Column[],
  prepare: Prepare,
): Promise<void> {
  const workshop = { ...place, uri: `${place.uri.replace(/\/+$/, "")}/${privateFolder}/${randomUUID()}` };
  await makeIn(workshop, emptyTable(name, columns, prepare));
  const [db, apart] = [await connect(place), await connect(workshop)];
  try {
    await db.cloneTable(name, `${workshop.uri}/${name}.lance`, { isShallow: true });
  } catch (error) {
    // Somebody else was first, or the clone is there and only its own opening failed.
    if ((await openTable(db, name)) === undefined) throw error;
  } finally {
    await apart.dropTable(name);
    apart.close();
    db.close();
  }
}

async function makeIn(
  { uri, storageOptions }: Pick<DatabaseLocation, "uri" | "storageOptions">,
  make: Make,
  newTables: NewTables = {},
): Promise<void> {
  const db = await connect({ uri, storageOptions: { ...storageOptions, ...creationOptions(newTables) } });
  try {
    await make(db);
  } finally {
    db.close();
  }
}

/** Gives a table of a folder another name, with nobody at work on it; false when there is one of that name. */
export function renameTable(folder: string, from: string, to: string): boolean {
  return moveInto(join(folder, `${from}.lance`), join(folder, `${to}.lance`));
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

/**
 * A creator that was killed leaves its private folder; the next one clears it away, but never one that may be in use. `now`
 * is what the folder's own clock says: that of another machine may be hours ahead.
 */
function removeAbandoned(folder: string, now: number): void {
  try {
    for (const entry of readdirSync(folder)) {
      const path = join(folder, entry);
      if (now - statSync(path).mtimeMs > abandonedAfter) rmSync(path, { recursive: true, force: true });
    }
    rmdirSync(folder);
  } catch {
    // Somebody else is at work in it, or was quicker.
  }
}
