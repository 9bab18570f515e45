/** What `migrate status` makes of a status. */
import { basename } from "node:path";
import { absentFrom } from "../../errors/migrate-error.ts";
import { states } from "../../errors/states.ts";
import { isHalfDone } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import { formatMigration, type MigrationName } from "../../migrations/file-name.ts";
import type { PreparingColumn } from "../../run/computed.ts";
import { ago, hasStoppedMidway } from "../../run/lease/describe-holder.ts";
import { staleDocument } from "../../run/stale-text.ts";
import type { StatusResult } from "../../commands/status.ts";
import { preparedWords, restWords } from "./progress.ts";

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

/** The states that migrations are left in, each with the commands that lead out of it, as text. */
export function waysOut({ reverting, pending, holder }: StatusResult): readonly string[] {
  return [
    ...reverting.map((one) => wayOut(one, "being rolled back")),
    ...pending.flatMap((one, index) => {
      const found = stateOf(one, holder !== undefined);
      // The last migration of a group leads out of the doubt about all of it.
      const isLast = found !== "in doubt" || pending[index + 1]?.inDoubt !== true;
      return found !== undefined && isLast ? [wayOut(one, found)] : [];
    }),
  ];
}

/** Whether nothing shows how far it got. `isHeld`: whether a run holds the lease, which may have gone further. */
export function isUnknown({ partial, inDoubt }: StatusResult["pending"][number], isHeld: boolean): boolean {
  return inDoubt && (isHeld || !hasStoppedMidway(partial));
}

const ways = { ...states, prepared: { on: "migrate up", back: states["prepared in part"].back } };

function stateOf(one: StatusResult["pending"][number], isHeld: boolean): keyof typeof ways | undefined {
  const { partial, underWay, isBetweenCommits, preparing } = one;
  // Its run continues by itself, or it is being rolled back. Both are listed.
  if (underWay || partial?.reversal !== undefined) return undefined;
  if (isUnknown(one, isHeld)) return "in doubt";
  if (isBetweenCommits) return "between two commits";
  if (partial !== undefined && isHalfDone(partial)) return "half done";
  const isIn = (...wanted: readonly PreparingColumn["state"][]) =>
    preparing.some(({ state }) => wanted.includes(state));
  if (preparing.length === 0 || isIn("running")) return undefined;
  return isIn("stopped", "unknown") ? "prepared in part" : "prepared";
}

function wayOut(migration: MigrationName & { readonly irreversible?: string | undefined }, state: keyof typeof ways) {
  const { on, back } = ways[state];
  const commands = (text: string) => text.replace("--to N", `--to ${migration.version}`);
  const { irreversible } = migration;
  const wayBack =
    irreversible === undefined ? `to go back, ${commands(back)}` : `it can't be rolled back, because ${irreversible}`;
  return `${formatMigration(migration)} is ${state}: to continue, ${commands(on)}; ${wayBack}`;
}

/** How `--check` ends. */
export function checkedStatus(found: StatusResult): "refused" | "pending" | undefined {
  const { problem, reverting, changed, pending } = found;
  if (problem !== undefined || [begunIn(found), reverting, changed].some(({ length }) => length > 0)) return "refused";
  return pending.length > 0 ? "pending" : undefined;
}

function timeOf(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

/** `documents.embedding: prepare stopped while computing (last progress 3 minutes ago), 41,000 of 50,000 rows computed`. */
export function preparingWords({ table, path, state, at, phase, progress }: PreparingColumn, now: number): string {
  const seen = at === undefined ? "" : ago(now - at);
  const words = {
    // The run that applies the migration computes the column.
    running:
      seen === "" ? [] : [`prepare is running (${phase === undefined ? "" : `${phase}, `}last heard of ${seen})`],
    stopped: [`prepare stopped${phase === undefined ? "" : ` while ${phase}`} (last progress ${seen})`],
    ended: [],
    unknown: ["it is unknown whether prepare is running"],
  };
  return `${table}.${path}: ${[...words[state], preparedWords(progress)].join(", ")}${state === "ended" ? restWords(progress) : ""}`;
}

function progressOf(partial: StatusResult["pending"][number]["partial"]) {
  return { done: partial?.step ?? 0, detail: partial?.detail };
}

export function statusDocument(found: StatusResult, target: string) {
  const {
    applied,
    reverting,
    pending,
    missing,
    holder,
    lease,
    doubts,
    late,
    deferred,
    stale,
    problem,
    changed,
    newDatabase,
  } = found;
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
      preparing: preparing.map(({ since, at, ...one }) => ({ ...one, since: timeOf(since), at: timeOf(at) })),
    })),
    holder,
    lease,
    doubts,
    late,
    deferred,
    stale: stale.map(staleDocument),
    problem,
    newDatabase,
  };
}
