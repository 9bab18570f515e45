/**
 * The names under which a ledger keeps table versions for its migrations: `0007.v12.e3`, or `0007.v12.e3-history` for a
 * ledger with another name than the default, because two ledgers may migrate one table.
 */
import type { TableVersions } from "../../ledger/state/record.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import { ownValue } from "../../schema/data-type.ts";
import type { KeptVersion } from "../../targets/contract/versions.ts";

/** The ledger's name unless the configuration sets another one. */
export const usualLedger = "_migrations";

/**
 * A name is never used twice: a request that comes late, when another run has the lease, can neither move what that one keeps
 * to another version nor release it. An epoch is one run's, and in it a run may keep another version, where the first one is gone.
 */
export function keptName(migration: number, version: number, epoch: number, ledger: string): string {
  const name = `${formatVersion(migration)}.v${version}.e${epoch}`;
  return ledger === usualLedger ? name : `${name}-${ledger}`;
}

/** Names of older releases have neither version nor epoch. */
const pattern = /^(\d+)(?:\.v\d+\.e(\d+))?(?:-(.+))?$/;

interface KeptFor {
  readonly migration: number;
  /** In which it was kept; 0 where an older release has kept it. */
  readonly epoch: number;
}

/**
 * The migration for which a version of a table is kept; undefined if it is kept for another ledger. The oldest releases left
 * the ledger out of the name. With such a name, the version must be the one that this ledger has recorded.
 */
export function keptFor(
  { name, version }: KeptVersion,
  table: string,
  ledger: string,
  recorded: (migration: number) => TableVersions | undefined,
): KeptFor | undefined {
  const [, number, epoch, of = usualLedger] = pattern.exec(name) ?? [];
  const migration = Number(number);
  if (number === undefined || number !== formatVersion(migration)) return undefined;
  const isOld = name === number && ownValue(recorded(migration) ?? {}, table)?.[0] === version;
  return of === ledger || isOld ? { migration, epoch: Number(epoch ?? 0) } : undefined;
}

/** Whether a migration's records say that a table had this version before it, under whatever name. */
export function isBefore(version: number, tables: TableVersions): boolean {
  return Object.values(tables).some(([before]) => before === version);
}
