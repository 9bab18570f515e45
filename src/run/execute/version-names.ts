/** Under which names versions of tables are kept for the migrations of a ledger. Two ledgers may migrate one table. */
import type { TableVersions } from "../../ledger/state/record.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import { ownValue } from "../../schema/data-type.ts";
import type { KeptVersion } from "../../targets/contract/target.ts";

/** A ledger is called this unless the configuration says otherwise. */
export const usualLedger = "_migrations";

export function keptName(migration: number, ledger: string): string {
  const number = formatVersion(migration);
  return ledger === usualLedger ? number : `${number}-${ledger}`;
}

/**
 * The migration for which a version of a table is kept; undefined where that is another ledger's. Older releases left the
 * ledger out of the name, so there the version tells that it is the one which this ledger has recorded.
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
