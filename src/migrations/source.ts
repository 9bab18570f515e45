/** Where migrations come from: a folder of files, or a generated list in the simulator of the tests. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { listMigrations, migrationsOf, type MigrationFile, type RefuseFile } from "./list-files.ts";
import type { Migration, LoadOptions } from "./load.ts";
import { resolvingOnce } from "./resolve-once.ts";

export interface MigrationSource {
  /**
   * All migration files in ascending order of version, hashed and not evaluated. Throws the first problem, or passes
   * each to `refuse`.
   */
  list(refuse?: RefuseFile): readonly MigrationFile[];
  /** The same one by one, if that takes time: each file is read when the next one is asked for. */
  readonly each?: () => Iterable<MigrationFile>;
  /**
   * Evaluates a migration. Throws ERR_FILE_UNREADABLE, ERR_FILE_EXPORTS, ERR_STEP_INVALID, or passes each problem to
   * `reading`.
   */
  load(file: MigrationFile, reading?: LoadOptions): Promise<Migration>;
  /** Throws ERR_FILE_EXPORTS for a migration that gives other steps when it is evaluated again. */
  readonly checkSameAgain?: ((migrations: readonly Migration[]) => Promise<void>) | undefined;
}

/** `loadSeconds`: how many seconds the evaluation of a migration may take; 60 when absent. */
export function migrationsIn(folder: string, loadSeconds?: number): MigrationSource {
  return {
    list: (refuse) => listMigrations(folder, refuse),
    each: () => migrationsOf(folder),
    // Loaded when the first migration is: a run with nothing pending evaluates none.
    load: async (file, reading) => await (await import("./load.ts")).loadMigration(file, loadSeconds, reading),
    checkSameAgain: async (migrations) =>
      await (await import("./same-again.ts")).checkSameAgain(migrations, loadSeconds),
  };
}

/** The same migrations, each loaded once from one list. */
export function loadedOnce(source: MigrationSource): MigrationSource {
  const loaded = new Map<MigrationFile, Promise<Migration>>();
  const load = (file: MigrationFile): Promise<Migration> => {
    const loading = loaded.get(file) ?? source.load(file);
    loaded.set(file, loading);
    return loading;
  };
  return {
    ...source,
    load: async (file, reading) => await (reading === undefined ? load(file) : source.load(file, reading)),
  };
}

/** The same migrations, listed once and each loaded once. */
export function remembered(source: MigrationSource): MigrationSource {
  let files: readonly MigrationFile[] | undefined;
  return {
    list: (refuse) => (refuse === undefined ? (files ??= source.list()) : source.list(refuse)),
    load: loadedOnce(source).load,
  };
}

type MigrationHash = Pick<MigrationFile, "version" | "textHash">;

/** After this many files, work that is under way gets its turn: reading them takes a millisecond. */
const turn = 100;

/**
 * Hashes the migrations while `work` is under way, such as a request to a service. It begins only if the folder can be
 * read and the names of its files are right, and if there are files; otherwise `working` is undefined. Throws the first
 * problem of the files, which hides that of `work`.
 */
export async function hashDuring<Result>(
  source: Pick<MigrationSource, "list" | "each">,
  work: () => Promise<Result>,
): Promise<{ readonly hashes: readonly MigrationHash[]; readonly working: Promise<Result> | undefined }> {
  const hashes: MigrationHash[] = [];
  let working: Promise<Result> | undefined;
  for (const file of source.each?.() ?? source.list()) {
    if (working === undefined) {
      working = work();
      // If a file can't be read, nothing awaits it.
      working.catch(() => {});
    }
    // Only this, because a run with nothing pending needs no more, and memory that stays in use must be moved.
    hashes.push({ version: file.version, textHash: file.textHash });
    if (source.each !== undefined && hashes.length % turn === 0) await nextTurn();
  }
  return { hashes, working };
}

export async function loadMigrations(
  source: MigrationSource,
  files: readonly MigrationFile[],
): Promise<readonly Migration[]> {
  const migrations: Migration[] = [];
  const load = async () => {
    for (const file of files) migrations.push(await source.load(file));
  };
  await (files.length > 1 ? resolvingOnce(load) : load());
  return migrations;
}
