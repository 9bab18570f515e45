import type { Guards } from "../plan/assess/guards.ts";
import type { Hooks } from "../run/hooks.ts";
import type { Databases } from "./databases.ts";

/** A target with settings of its own, which are checked when it is opened. */
export interface AnyTarget {
  readonly kind: string;
}

/** Features add to it: src/migrator/config.ts. */
export interface CoreConfig<Target = AnyTarget> {
  /**
   * The folder of the migration files.
   *
   * @default "migrations"
   */
  readonly migrations?: string;
  /**
   * The file that declares the tables, for `migrate generate`.
   *
   * @default "schema.ts", or "schema" with the ending of the project's files
   */
  readonly schema?: string;
  /**
   * The name of the ledger's table, at most 60 characters.
   *
   * @default "_migrations"
   */
  readonly ledger?: string;
  /**
   * The target to use without `--target`.
   *
   * @default the only target
   */
  readonly target?: string;
  /**
   * The databases, by name.
   *
   * @default `local`: the folder `.lancedb`
   */
  readonly targets?: Readonly<Record<string, Target & TargetSettings<Target>>>;
  /**
   * If a run writes no record for this time, another run takes over. Use the same for all runs of a database.
   *
   * @default 30
   */
  readonly leaseSeconds?: number;
  /**
   * How long to wait for another run that is working.
   *
   * @default 600
   */
  readonly waitSeconds?: number;
  /**
   * The Python that loads computed columns: a program, or its path from the folder of the configuration. `MIGRATE_PYTHON`
   * overrides it.
   *
   * @default that of the virtual environment `.venv` beside the configuration
   */
  readonly python?: string;
  /**
   * Functions that `migrate up` and `migrate down` call before and after a run and each migration: `beforeRun`,
   * `afterRun`, `beforeMigration`, `afterMigration` ([hooks](hooks.md)).
   */
  readonly hooks?: Hooks;
}

/** What any target can have. */
export interface TargetSettings<Target = object> {
  /** What migrations may do there. */
  readonly guards?: Guards;
  /**
   * Paths of the contracts of the releases that run there, and of folders with contracts. `migrate up` and
   * `migrate down` refuse what breaks one of them.
   */
  readonly contracts?: string | readonly string[];
  /**
   * Whether `migrate push` may change the tables without a migration.
   *
   * @default false
   */
  readonly push?: boolean;
  /**
   * The names of many databases with the same migrations: a list, the path of a file with one name per line, or a
   * function that returns a list. `migrate up` and `migrate status` run on all of them.
   */
  readonly databases?: Databases<Target>;
}

export const defaultSeconds = { lease: 30, wait: 600 };
