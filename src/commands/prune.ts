/** Lists the table versions that are kept for `down`, and releases them. */
import { foldLedger } from "../ledger/state/fold.ts";
import { isHalfDone, type LedgerState } from "../ledger/state/ledger-state.ts";
import { formatMigration } from "../migrations/file-name.ts";
import type { KeptVersion } from "../targets/contract/versions.ts";
import { isBefore, keptFor } from "../run/execute/version-names.ts";
import { runContext, type MigratorOptions } from "../run/run-context.ts";

export interface KeptPoint extends KeptVersion {
  readonly table: string;
  /** The migration whose rollback restores this version; undefined if it is not applied, or its rollback restores another one. */
  readonly migration: string | undefined;
  /** Whether the version no longer exists, because a clean-up did not see that it is kept. */
  readonly isGone: boolean;
  /** Whether a run may still need it: the lease is held, or a migration is half-done. */
  readonly isNeeded: boolean;
}

export interface PruneChoice {
  /** Only versions that are kept for migrations up to this one. */
  readonly to?: number | undefined;
  /** Releases those that are not needed. */
  readonly yes?: boolean | undefined;
}

/** The kept versions, including those that were just released; empty on a target that keeps no versions. */
export async function prune(
  options: MigratorOptions,
  { to = Infinity, yes }: PruneChoice,
): Promise<readonly KeptPoint[]> {
  const { target, ledger, journal } = runContext(options);
  const { versions } = target;
  if (versions === undefined) return [];
  const all: { readonly table: string; readonly kept: KeptVersion; readonly isGone: boolean }[] = [];
  for (const table of await target.listTables()) {
    const found = await versions.kept(table);
    const there = found.length === 0 ? undefined : await versions.list(table).catch(() => undefined);
    const isGone = (version: number) => there !== undefined && there.every((one) => one.version !== version);
    for (const kept of found) all.push({ table, kept, isGone: isGone(kept.version) });
  }
  // Read after the versions: a run that has kept one of them holds the lease now, or has recorded why it kept it.
  const state = foldLedger(await journal.read());
  const found: KeptPoint[] = [];
  for (const { table, kept, isGone } of all) {
    const migration = keptFor(kept, table, ledger, (one) => state.migrations.get(one)?.tables)?.migration;
    if (migration !== undefined && migration <= to)
      found.push({ ...kept, table, isGone, ...knownOf(migration, kept.version, state) });
  }
  if (yes === true) for (const { table, name, isNeeded } of found) if (!isNeeded) await versions.release(table, name);
  return found;
}

function knownOf(
  migration: number,
  version: number,
  { migrations, holder, inDoubt }: LedgerState,
): Pick<KeptPoint, "migration" | "isNeeded"> {
  const known = migrations.get(migration);
  return {
    migration: known && isBefore(version, known.tables) ? formatMigration(known) : undefined,
    // A rollback of several migrations needs the versions of older ones later.
    isNeeded: holder !== undefined || inDoubt.size > 0 || [...migrations.values()].some(isHalfDone),
  };
}
