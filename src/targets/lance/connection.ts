/** A connection to the database that is opened when it is first needed, because opening one creates the folder. */
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, openTable, type Connection, type EngineTable } from "../../engine/engine.ts";
import type { DatabaseLocation } from "../../engine/location.ts";

export function lazyConnection(location: DatabaseLocation, readConsistencyInterval?: number) {
  let made: Promise<Connection> | undefined;
  /** Undefined if the folder does not exist: a read must not create it. */
  const get = async (): Promise<Connection | undefined> => {
    if (made === undefined && location.folder !== undefined && !isFolder(location.folder)) return undefined;
    return await (made ??= connect(location, readConsistencyInterval));
  };
  return {
    get,
    /** Opens a new handle each time; undefined if there is no such table. */
    async open(table: string): Promise<EngineTable | undefined> {
      const db = await get();
      return db && (await openTable(db, table, location.folder));
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
async function closeOnceIdle(db: Connection): Promise<void> {
  for (let tries = 0; tries < 100; tries++)
    try {
      return db.close();
    } catch {
      await sleep(20);
    }
}

/** Whether the folder exists. Throws if it can't be created either, because a file is in its place or above it. */
function isFolder(path: string): boolean {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  if (!statSync(at).isDirectory()) throw new Error(`${at} is a file`);
  return at === path;
}
