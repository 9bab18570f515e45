/** The types of `lance-migrate/testing`. They import nothing, so that the package's types are complete. */

export interface MigratedDatabaseOptions {
  /** The folder in which to look for the configuration; the current folder by default. */
  readonly folder?: string;
  /** The path of a configuration file. */
  readonly config?: string;
  /** The target whose format of new tables the database gets. */
  readonly target?: string;
  /** The number of the last migration to apply; all by default. */
  readonly to?: number;
  /**
   * Whether to copy an earlier result for the same files of the migrations folder. Set it to false if the migrations
   * import code from elsewhere.
   *
   * @default true
   */
  readonly cache?: boolean;
}

/** A database that belongs to one test. */
export interface MigratedDatabase {
  /** The path of its folder, for `connect`. */
  readonly uri: string;
  /** Removes it. */
  drop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
