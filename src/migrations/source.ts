/** Where migrations come from: a folder of files, or for a simulator a list that it made up. */
import type { MigrateError } from "../errors.ts";
import { listMigrations, type MigrationFile } from "./files.ts";
import { loadMigration, type Migration } from "./load.ts";

export interface MigrationSource {
  /** All of them by ascending version, hashed and not evaluated. Throws at the first bad name, unless `refuse` is told of each. */
  list(refuse?: (problem: MigrateError) => void): readonly MigrationFile[];
  /** Evaluates one. Throws ERR_FILE_UNREADABLE, ERR_FILE_EXPORTS, ERR_STEP_INVALID. */
  load(file: MigrationFile): Promise<Migration>;
}

/** `loadSeconds`: how long each may take to be evaluated; 60 when absent. */
export function migrationsIn(folder: string, loadSeconds?: number): MigrationSource {
  return { list: (refuse) => listMigrations(folder, refuse), load: (file) => loadMigration(file, loadSeconds) };
}

export async function loadMigrations(
  source: MigrationSource,
  files: readonly MigrationFile[],
): Promise<readonly Migration[]> {
  const migrations: Migration[] = [];
  for (const file of files) migrations.push(await source.load(file));
  return migrations;
}
