/** What `migrate status` makes of a status. */
import { basename } from "node:path";
import { absentFrom } from "../../errors/migrate-error.ts";
import { isHalfDone } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { StatusResult } from "../../commands/status.ts";

/**
 * Migrations that another release has begun and not finished. Those that are being rolled back are listed separately.
 */
export function begunIn({ begun }: StatusResult): StatusResult["begun"] {
  return begun.filter(({ known }) => known?.reversal === undefined);
}

/** Of a migration that is in the ledger and not among the files of the folder, or not in the bundle. */
export function absenceWords(bundle: string | undefined, folder: string): string {
  return absentFrom({ bundle: bundle && basename(bundle), folder: basename(folder) });
}

/** The migration that `down` would roll back. */
export function lastRanIn({ applied, reverting, pending }: StatusResult): LedgerMigration | undefined {
  const begun = pending.flatMap(({ partial }) => (partial !== undefined && isHalfDone(partial) ? [partial] : []));
  return [...applied, ...reverting, ...begun].toSorted((one, other) => one.order - other.order).at(-1);
}

/** How `--check` ends. */
export function checkedStatus(found: StatusResult): "refused" | "pending" | undefined {
  const { problem, reverting, changed, pending } = found;
  if (problem !== undefined || [begunIn(found), reverting, changed].some(({ length }) => length > 0)) return "refused";
  return pending.length > 0 ? "pending" : undefined;
}

function progressOf(partial: StatusResult["pending"][number]["partial"]) {
  return { done: partial?.step ?? 0, detail: partial?.detail };
}

export function statusDocument(found: StatusResult, target: string) {
  const { applied, reverting, pending, missing, holder, lease, doubts, late, deferred, problem, changed } = found;
  const gone = new Set(missing.map(({ version }) => version));
  return {
    target,
    applied: applied.map(({ version, name, at, duration, by, checksum, isBaselined = false }) => ({
      version,
      name,
      at: new Date(at).toISOString(),
      duration,
      by,
      checksum,
      baselined: isBaselined,
      missing: gone.has(version),
    })),
    reverting: reverting.map(({ version, name, reversal }) => {
      const { step, total, detail } = reversal!;
      return { version, name, done: step, total, detail };
    }),
    begun: begunIn(found).map(({ version, known }) => ({ version, name: known?.name, ...progressOf(known) })),
    changed,
    pending: pending.map(({ version, name, file, bundledFile = file, partial, inDoubt, underWay, preparing }) => ({
      version,
      name,
      file: bundledFile,
      ...progressOf(partial),
      inDoubt,
      underWay,
      preparing,
    })),
    holder,
    lease,
    doubts,
    late,
    deferred,
    problem,
  };
}
