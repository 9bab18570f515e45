/** The names under which a ledger keeps table versions for its migrations. Two ledgers may migrate one table. */
import type { TableVersions } from "../../ledger/state/record.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import { ownValue } from "../../schema/data-type.ts";
import type { KeptVersion } from "../../targets/contract/target.ts";

/** The ledger's name unless the configuration sets another one. */
export const usualLedger = "_migrations";

export function keptName(migration: number, ledger: string): string {
  const number = formatVersion(migration);
  return ledger === usualLedger ? number : `${number}-${ledger}`;
}

/**
 * The migration for which a version of a table is kept; undefined if it is kept for another ledger. Older releases left
 * the ledger out of the name. With such a name, the version must be the one that this ledger has recorded.
 */
export function keptFor(
  { name, version }: KeptVersion,
  table: string,
  ledger: string,
  recorded: (migration: number) => TableVersions | undefined,
): number | undefined {
  const migration = Number.parseInt(name, 10);
  if (name === keptName(migration, ledger)) return migration;
  const isOld = name === formatVersion(migration) && ownValue(recorded(migration) ?? {}, table)?.[0] === version;
  return isOld ? migration : undefined;
}
