/** A connection to the database that is opened when it is first needed, because opening one creates the folder. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseLocation } from "../../engine/location.ts";

interface Closable {
  close(): void;
}

export function lazyConnection<Opened extends Closable>(location: DatabaseLocation, connect: () => Promise<Opened>) {
  let made: Promise<Opened> | undefined;
  return {
    /** Undefined if the folder does not exist: a read must not create it. */
    async get(): Promise<Opened | undefined> {
      if (made === undefined && location.folder !== undefined && !isFolder(location.folder)) return undefined;
      return await (made ??= connect());
    },
    async close(): Promise<void> {
      // The call that opened it has already thrown the error.
      const closed = made?.then(closeOnceIdle, () => {});
      // Awaiting this would wait for an object store that has not answered so far.
      if (location.folder !== undefined) await closed;
    },
  };
}

/**
 * The engine refuses to close while a call is under way, such as one that is no longer awaited because another failed.
 * A connection that stays open ends with the process.
 */
async function closeOnceIdle(db: Closable): Promise<void> {
  for (let tries = 0; tries < 100; tries++)
    try {
      return db.close();
    } catch {
      await sleep(20);
    }
}

/**
 * Whether the folder exists. Throws if it can't be a database: a file is in its place or above it, it is in the folder
 * of a table, or this user may not read it, which the engine reports without a sentence.
 */
function isFolder(path: string): boolean {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  if (!statSync(at).isDirectory()) throw new Error(`${at} is a file`);
  const table = foldersOf(path).find((folder) => folder.endsWith(".lance") && existsSync(join(folder, "_versions")));
  if (table !== undefined) throw new Error(`${table} is the folder of a table; the database is ${dirname(table)}`);
  if (at === path) accessSync(path, constants.R_OK | constants.X_OK);
  return at === path;
}

/** The folder, and all above it. */
function foldersOf(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...foldersOf(above)];
}
