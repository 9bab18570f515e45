/** Selects the migrations to roll back: always those that ran last, whatever their numbers. Pure. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { isHalfDone, type LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import { formatGroup, formatMigration, formatVersion } from "../../migrations/file-name.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { versionUnknown } from "./pending.ts";

export interface BackChoice {
  /** How many to roll back; 1 by default. */
  readonly steps?: number | undefined;
  /** Roll back all above this version. If no migration has the number 0, 0 means all. */
  readonly to?: number | undefined;
}

/** A choice for a run. */
export interface RunBackChoice extends BackChoice {
  /** The migrations of a saved plan. Those that are left of them are rolled back, instead of `steps`. */
  readonly only?: ReadonlySet<number> | undefined;
}

/** The migrations to roll back, in order. A rollback that has begun comes first, chosen or not. */
export function orderBack(
  { migrations }: LedgerState,
  files: readonly MigrationFile[],
  { steps = 1, to, only }: RunBackChoice,
): readonly LedgerMigration[] {
  const ran = [...migrations.values()]
    .filter((known) => known.status === "applied" || isHalfDone(known))
    .toSorted((one, other) => other.order - one.order);
  if (to === undefined) return ran.slice(0, only ? ran.filter(({ version }) => only.has(version)).length : steps);
  if (to !== 0 && !files.some(({ version }) => version === to)) throw versionUnknown(to, files);
  const isAbove = ({ version, reversal }: LedgerMigration) =>
    reversal !== undefined || version > to || (to === 0 && !files.some((file) => file.version === 0));
  const chosen = ran.filter(isAbove);
  const stays = ran.slice(0, chosen.length).find((known) => !isAbove(known));
  if (stays === undefined) return chosen;
  const over = chosen.find(({ order }) => order < stays.order)!;
  // All that are chosen, so that no second rollback is needed.
  const all = ran.indexOf(chosen.at(-1)!) + 1;
  const again = ran.slice(0, all).filter((known) => !isAbove(known));
  const lowest = Math.min(...again.map(({ version }) => version));
  throw new MigrateError("ERR_BACK_ORDER", {
    later: formatMigration(stays),
    earlier: formatMigration(over),
    commands: [
      `migrate down --steps ${all}`,
      `migrate up --to ${to}${ran.slice(all).some(({ version }) => version > lowest) ? " --allow-out-of-order" : ""}`,
    ],
    again: again.toReversed().map(formatMigration),
  });
}

/**
 * Refuses to roll back while a migration may have run further than is recorded, or is between two of its commits. If
 * tables can be described, they show how far a migration without a record got, so that one is not refused. A group in
 * doubt is, because its tables may be as after all of it. `stopped`: what stopped in the middle and is rolled back.
 */
export function checkNothingHalfDone(
  { migrations }: LedgerState,
  { inDoubt, group, stopped }: Readonly<Record<"inDoubt" | "group" | "stopped", ReadonlySet<number>>>,
  { describes }: Pick<Capabilities, "describes">,
): void {
  const half = [...migrations.values()].find(
    ({ version, midway, reversal }) => midway !== undefined && reversal === undefined && !stopped.has(version),
  );
  const begun = [...inDoubt].find((version) => {
    if (stopped.has(version)) return false;
    const known = migrations.get(version);
    if (known === undefined) return !describes;
    return known.reversal === undefined && known.status !== "applied";
  });
  const version = half?.version ?? [...group][0] ?? begun;
  if (version === undefined) return;
  const known = migrations.get(version);
  const single = known === undefined ? formatVersion(version) : formatMigration(known);
  const name = group.has(version) ? formatGroup(group) : single;
  throw new MigrateError("ERR_UNSETTLED", { version: name });
}
