/** Where migrations come from: a folder of files, or for a simulator a list that it made up. */
import { listMigrations, type MigrationFile, type RefuseFile } from "./list-files.ts";
import { loadMigration, type Migration, type LoadOptions } from "./load.ts";

export interface MigrationSource {
  /** All of them by ascending version, hashed and not evaluated. Throws at the first bad one, unless `refuse` is told of each. */
  list(refuse?: RefuseFile): readonly MigrationFile[];
  /** Evaluates one. Throws ERR_FILE_UNREADABLE, ERR_FILE_EXPORTS, ERR_STEP_INVALID, unless the reading is told of each. */
  load(file: MigrationFile, reading?: LoadOptions): Promise<Migration>;
}

/** `loadSeconds`: how long each may take to be evaluated; 60 when absent. */
export function migrationsIn(folder: string, loadSeconds?: number): MigrationSource {
  return {
    list: (refuse) => listMigrations(folder, refuse),
    load: (file, reading) => loadMigration(file, loadSeconds, reading),
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
