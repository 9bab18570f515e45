/** Where migrations come from: a folder of files, or a generated list in the simulator of the tests. */
import { listMigrations, type MigrationFile, type RefuseFile } from "./list-files.ts";
import type { Migration, LoadOptions } from "./load.ts";

export interface MigrationSource {
  /**
   * All migration files in ascending order of version, hashed and not evaluated. Throws the first problem, or passes
   * each to `refuse`.
   */
  list(refuse?: RefuseFile): readonly MigrationFile[];
  /**
   * Evaluates a migration. Throws ERR_FILE_UNREADABLE, ERR_FILE_EXPORTS, ERR_STEP_INVALID, or passes each problem to
   * `reading`.
   */
  load(file: MigrationFile, reading?: LoadOptions): Promise<Migration>;
}

/** `loadSeconds`: how many seconds the evaluation of a migration may take; 60 when absent. */
export function migrationsIn(folder: string, loadSeconds?: number): MigrationSource {
  return {
    list: (refuse) => listMigrations(folder, refuse),
    // Loaded when the first migration is: a run with nothing pending evaluates none.
    load: async (file, reading) => await (await import("./load.ts")).loadMigration(file, loadSeconds, reading),
  };
}

export async function loadMigrations(
  source: MigrationSource,
  files: readonly MigrationFile[],
): Promise<readonly Migration[]> {
  const migrations: Migration[] = [];
  for (const file of files) migrations.push(await source.load(file));
  return migrations;
}
