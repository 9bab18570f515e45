/** The database schema after each migration, and `lock.json`, which states it. Touches no table. */
import { isUnfinished } from "../migrations/load.ts";
import { lockText } from "../migrations/schema-lock.ts";
import { replayOn } from "../plan/history/replay.ts";
import type { Database } from "../schema/table.ts";
import type { MigratorOptions } from "./run-context.ts";

export interface SchemaRevision {
  readonly version: number;
  readonly name: string;
  /** Undefined if its steps are not written yet; such a migration changes nothing. */
  readonly checksum: string | undefined;
  readonly database: Database;
}

/** In the order of their numbers. Throws if a migration can't be loaded, or can't follow those before it. */
export async function schemaRevisions({
  migrations: source,
  target,
}: Pick<MigratorOptions, "migrations" | "target">): Promise<readonly SchemaRevision[]> {
  const revisions: SchemaRevision[] = [];
  let now: Database = new Map();
  for (const file of source.list()) {
    const migration = await source.load(file).catch((error: unknown) => {
      if (isUnfinished(error)) return undefined;
      throw error;
    });
    if (migration !== undefined) now = replayOn(now, [migration], target.capabilities);
    revisions.push({ version: file.version, name: file.name, checksum: migration?.checksum, database: now });
  }
  return revisions;
}

/** The text of `lock.json`. A migration without steps yet has no checksum in it. Throws if another one can't work. */
export async function lockOf(options: Pick<MigratorOptions, "migrations" | "target">): Promise<string> {
  const revisions = await schemaRevisions(options);
  return lockText(revisions, revisions.at(-1)?.database ?? new Map());
}
