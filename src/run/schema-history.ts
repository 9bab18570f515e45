/** The database schema after each migration. Touches no table. */
import { isUnfinished } from "../migrations/load.ts";
import { foldOn } from "../plan/history/replay.ts";
import type { Database } from "../schema/table.ts";
import type { MigratorOptions } from "./options.ts";

export interface SchemaRevision {
  readonly version: number;
  readonly name: string;
  /** Undefined if its steps are not written yet; such a migration changes nothing. */
  readonly checksum: string | undefined;
  readonly database: Database;
}

/** In the order of their numbers. Throws if a migration can't be loaded, or can't follow those before it. */
export async function momentsOf({
  migrations: source,
  target,
}: Pick<MigratorOptions, "migrations" | "target">): Promise<readonly SchemaRevision[]> {
  const moments: SchemaRevision[] = [];
  let now: Database = new Map();
  for (const file of source.list()) {
    const migration = await source.load(file).catch((error: unknown) => {
      if (isUnfinished(error)) return undefined;
      throw error;
    });
    if (migration !== undefined) now = foldOn(now, [migration], target.capabilities);
    moments.push({ version: file.version, name: file.name, checksum: migration?.checksum, database: now });
  }
  return moments;
}
