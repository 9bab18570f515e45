/** `lance-migrate/testing`: migrated databases for tests. */
import type { MigratedDatabase, MigratedDatabaseOptions } from "./options.ts";

export type { MigratedDatabase, MigratedDatabaseOptions };

/**
 * Creates a temporary database to which all migrations were applied. The first call for a state of the migrations applies
 * them; later calls, also those of other processes, copy the result.
 *
 * @example
 * await using database = await migratedDatabase();
 * const db = await connect(database.uri);
 */
export async function migratedDatabase(options: MigratedDatabaseOptions = {}): Promise<MigratedDatabase> {
  const { migratedDatabase } = await import("./migrated-database.ts");
  return await migratedDatabase(options, Object.values(await import("../index.ts")));
}
