/** The old versions that are kept so that `down` can restore them: what is there, and letting it go. */
import { foldLedger, isHalfDone, type LedgerState } from "../ledger/state/fold.ts";
import { journalOf } from "../ledger/journal/open-journal.ts";
import { formatMigration } from "../migrations/file-name.ts";
import type { KeptVersion } from "../targets/contract/target.ts";
import { isBefore, keptFor } from "../run/execute/version-names.ts";
import type { MigratorOptions } from "../run/options.ts";

export interface KeptPoint extends KeptVersion {
  readonly table: string;
  /** The migration that a rollback takes back to that version; undefined where it is not applied, or goes back to another one. */
  readonly migration: string | undefined;
  /** A run is at work, or stopped half-way, and may need it. */
  readonly isNeeded: boolean;
}

export interface PruneChoice {
  /** Just those of migrations up to this one. */
  readonly to?: number | undefined;
  /** Let them go, but for those that are needed. */
  readonly yes?: boolean | undefined;
}

/** What is kept, or was; empty on a target that keeps no versions. */
export async function prune(
  { target, ledger, clock }: MigratorOptions,
  { to = Infinity, yes }: PruneChoice,
): Promise<readonly KeptPoint[]> {
  const { versions } = target;
  if (versions === undefined) return [];
  const state = foldLedger(await journalOf(target, ledger, clock).read());
  const found: KeptPoint[] = [];
  for (const table of await target.listTables())
    for (const kept of await versions.kept(table)) {
      const migration = keptFor(kept, table, ledger, (one) => state.migrations.get(one)?.tables)?.migration;
      if (migration !== undefined && migration <= to)
        found.push({ ...kept, table, ...knownOf(migration, kept.version, state) });
    }
  if (yes === true) for (const { table, name, isNeeded } of found) if (!isNeeded) await versions.letGo(table, name);
  return found;
}

function knownOf(
  migration: number,
  version: number,
  { migrations, holder }: LedgerState,
): Pick<KeptPoint, "migration" | "isNeeded"> {
  const known = migrations.get(migration);
  return {
    migration: known && isBefore(version, known.tables) ? formatMigration(known) : undefined,
    // Whoever takes several back comes to older ones later.
    isNeeded: holder !== undefined || [...migrations.values()].some(isHalfDone),
  };
}
