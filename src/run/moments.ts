/** The database after each migration that there is. Touches no table. */
import { isUnfinished } from "../migrations/load.ts";
import { compileMigration } from "../plan/compile.ts";
import { placed } from "../plan/fold.ts";
import { tablesAfter } from "../schema/action.ts";
import { change, type Database, type Table } from "../schema/table.ts";
import type { MigratorOptions } from "./migrator.ts";

export interface Moment {
  readonly version: number;
  readonly name: string;
  /** Undefined where its steps are yet to be written; then it changes nothing. */
  readonly checksum: string | undefined;
  readonly database: Database;
}

/** In the order of their numbers. Throws what keeps them from working. */
export async function momentsOf({
  migrations: source,
  target,
}: Pick<MigratorOptions, "migrations" | "target">): Promise<readonly Moment[]> {
  const moments: Moment[] = [];
  const now = new Map<string, Table>();
  for (const file of source.list()) {
    const migration = await source.load(file).catch((error: unknown) => {
      if (isUnfinished(error)) return undefined;
      throw error;
    });
    if (migration !== undefined)
      for (const { place, action } of compileMigration(migration, target.capabilities))
        placed(place, () => change(now, tablesAfter(now, action)));
    moments.push({ version: file.version, name: file.name, checksum: migration?.checksum, database: new Map(now) });
  }
  return moments;
}
