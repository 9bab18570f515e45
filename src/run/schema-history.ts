/** The database schema after each migration, and `lock.json`, which states it. Touches no table. */
import { isUnfinished } from "../migrations/load.ts";
import { lockText } from "../migrations/schema-lock.ts";
import { replayNext } from "../plan/history/replay.ts";
import { change, type Database, type Table, type Tables } from "../schema/table.ts";
import type { MigratorOptions } from "./run-context.ts";

export interface SchemaRevision {
  readonly version: number;
  readonly name: string;
  /** Undefined if its steps are not written yet; such a migration changes nothing. */
  readonly checksum: string | undefined;
  /** The tables that it changes, as they are after it. */
  readonly changed: Tables;
}

/** In the order of their numbers. Throws if a migration can't be loaded, or can't follow those before it. */
export async function schemaRevisions({
  migrations: source,
  target,
}: Pick<MigratorOptions, "migrations" | "target">): Promise<readonly SchemaRevision[]> {
  const revisions: SchemaRevision[] = [];
  const now = new Map<string, Table>();
  for (const file of source.list()) {
    const migration = await source.load(file).catch((error: unknown) => {
      if (isUnfinished(error)) return undefined;
      throw error;
    });
    const changed = migration === undefined ? new Map() : replayNext(now, migration, target.capabilities);
    revisions.push({ version: file.version, name: file.name, checksum: migration?.checksum, changed });
  }
  return revisions;
}

/** The database after these revisions, which begin with the first. */
export function databaseAfter(revisions: readonly SchemaRevision[]): Database {
  const database = new Map<string, Table>();
  for (const { changed } of revisions) change(database, changed);
  return database;
}

/** The text of `lock.json`. A migration without steps yet has no checksum in it. */
export function lockOf(revisions: readonly SchemaRevision[]): string {
  return lockText(revisions, databaseAfter(revisions));
}
