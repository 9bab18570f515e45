/** The old versions that are kept so that `down` can restore them: what is there, and letting it go. */
import { foldLedger, isHalfDone, type LedgerState } from "../ledger/state/fold.ts";
import { journalOf } from "../ledger/journal/open-journal.ts";
import { formatMigration } from "../migrations/file-name.ts";
import type { KeptVersion } from "../targets/contract/target.ts";
import { keptFor } from "../run/execute/version-names.ts";
import type { MigratorOptions } from "../run/options.ts";

export interface KeptPoint extends KeptVersion {
  readonly table: string;
  /** The migration before which the table had that version; undefined where it is not applied. */
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
      const version = keptFor(kept, table, ledger, (one) => state.migrations.get(one)?.tables);
      if (version !== undefined && version <= to) found.push({ ...kept, table, ...knownOf(version, state) });
    }
  if (yes === true) for (const { table, name, isNeeded } of found) if (!isNeeded) await versions.letGo(table, name);
  return found;
}

function knownOf(version: number, { migrations, holder }: LedgerState): Pick<KeptPoint, "migration" | "isNeeded"> {
  const known = migrations.get(version);
  return {
    migration: known && formatMigration(known),
    // Whoever takes several back comes to older ones later.
    isNeeded: holder !== undefined || [...migrations.values()].some(isHalfDone),
  };
}
