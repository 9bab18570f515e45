/** Old versions of tables, on a target that keeps them. */
import type { PutBackRowsAction } from "../../actions/model/action.ts";
import type { Column } from "../../schema/data-type.ts";
import type { Table } from "../../schema/table.ts";

/** Old versions of tables. */
export interface Versions {
  /** Keeps a version from being cleaned up, under a name that was never used for this table. */
  keep(table: string, version: number, name: string): Promise<void>;
  /** Releases the version of that name, if there is one. */
  release(table: string, name: string): Promise<void>;
  /** The kept versions of a table. */
  kept(table: string): Promise<readonly KeptVersion[]>;
  /** Describes a version, and whether it was restored after version `after`. Throws if it no longer exists. */
  look(table: string, version: number, after: number): Promise<OldVersion>;
  /** The existing versions of a table, in ascending order. */
  list(table: string): Promise<readonly TableVersion[]>;
  /**
   * When a version was created, in milliseconds since 1970; undefined if the version or the table no longer exists. It
   * distinguishes a table from another of its name: see schema/table-identity.ts.
   */
  time(table: string, version: number): Promise<number | undefined>;
  /** A table at a version, with its indexes if requested or read anyway. Throws if the version no longer exists. */
  at(table: string, version: number, withIndexes?: boolean): Promise<Table>;
  /** What was written after a version; undefined if unknown. Throws if the version no longer exists. */
  since(table: string, version: number, scope?: SinceScope): Promise<Since | undefined>;
  /** Why the rows that were added since can't be reinserted like this. Throws what a query of their values throws. */
  misfitsSince(table: string, reinsertion: Reinsertion): Promise<string | undefined>;
}

export interface TableVersion {
  readonly version: number;
  /** When it was created, in milliseconds since 1970 by the clock of its writer, if the target reports it. */
  readonly at?: number | undefined;
}

/** The rows to reinsert after a restore: those that were added since a version, as these columns. */
export type Reinsertion = Omit<PutBackRowsAction, "kind" | "table">;

export interface OldVersion {
  readonly columns: readonly Column[];
  /** The version that restoring it created, after the other one; undefined if it was not restored. */
  readonly restored: number | undefined;
}

export interface KeptVersion {
  readonly name: string;
  readonly version: number;
}

export interface Since {
  readonly added: number;
  /** If rows are compared by value, a changed row counts as removed and added instead. */
  readonly changed: number;
  readonly removed: number;
}

export interface SinceScope {
  /** The newer version that is compared; the newest if absent. */
  readonly until?: number | undefined;
  /** The version since which the table's columns should not have changed; `version` if absent. */
  readonly from?: number | undefined;
  /** Whether the newer version may have columns that the older one lacks; these are not compared. */
  readonly mayHaveMore?: boolean | undefined;
}

/** At most this many versions are examined one by one. */
export const mostVersions = 1_000;

/**
 * The newest commit since which a table has something: the version that it made, and the newest version before it that
 * lacks it. `before`: undefined if no such version is examined; then an older one may have made the commit.
 */
export async function newestCommit(
  newestFirst: readonly number[],
  has: (version: number) => Promise<boolean>,
): Promise<{ readonly made: number | undefined; readonly before: number | undefined }> {
  let made: number | undefined;
  for (const version of newestFirst.slice(0, mostVersions))
    if (await has(version)) made = version;
    else if (made !== undefined) return { made, before: version };
  return { made, before: undefined };
}
