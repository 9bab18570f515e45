/** Describes the holder of the lease, and what is in doubt, as text. */
import type { Clock } from "../../time/clock.ts";
import { count } from "../../errors/migrate-error.ts";
import {
  groupInDoubt,
  migrationsBegun,
  migrationsInDoubt,
  workOf,
  type LedgerState,
} from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { Phase } from "../phase.ts";
import { formatGroup, formatMigration } from "../../migrations/file-name.ts";

/** Whether the holder has been silent for longer than its lease, by this clock. */
export function isSilent({ holder, head }: LedgerState, clock: Clock): boolean {
  // The marker that takes an epoch states no time: `at` is 0.
  return holder !== undefined && head !== undefined && head.at !== 0 && clock.wall() - head.at > holder.lease;
}

export function holderWords(state: LedgerState, clock: Clock): string | undefined {
  const { holder, head } = state;
  if (holder === undefined) return undefined;
  const holds = `${holder.by} holds the lease`;
  const takesOver = "the next run that has something to do takes over";
  const whenSilent = `once it is silent for a whole lease, ${takesOver}`;
  // The marker that takes an epoch states no time.
  if (head === undefined || head.at === 0) return `${holds}; ${whenSilent}`;
  const silence = clock.wall() - head.at;
  const heard = `${holds}, last heard of ${ago(silence)} by this clock`;
  return isSilent(state, clock) ? `${heard}: its lease has run out, and ${takesOver}` : `${heard}; ${whenSilent}`;
}

/** The migrations that a holder with an unexpired lease works on. */
export function underWay(state: LedgerState, clock: Clock): readonly number[] {
  return isSilent(state, clock) || state.holder === undefined ? [] : workOf(state.holder);
}

/**
 * The migrations in doubt or under way, as seen by `run`: one text for each, and one for a group. `phase`: what the holder
 * of the lease does.
 */
export function doubtWords(state: LedgerState, run: string, clock: Clock, phase?: Phase): readonly string[] {
  const atWork = underWay(state, clock);
  const group = groupInDoubt(state, run);
  const single = [...migrationsInDoubt(state, run)].filter((version) => !group.has(version));
  return [...(group.size === 0 ? [] : [[...group]]), ...single.map((version) => [version])].map((versions) => {
    const [version] = versions as [number];
    const name = nameOf(state, versions);
    if (atWork.includes(version)) return `${name} is under way${phase === undefined ? "" : ` (${phase})`}`;
    const known = state.migrations.get(version);
    const verb = known?.reversal === undefined ? "up" : "down";
    const isTouchedSince = state.holder?.next === version || state.late.some((call) => call.version === version);
    if (versions.length === 1 && hasStoppedMidway(known) && !isTouchedSince)
      return `${name} stopped in the middle of an action; the next migrate ${verb} finds out how far it got, and resumes it`;
    return `${name} may have run further than is recorded; the next migrate ${verb} finds out and resumes it`;
  });
}

/** Whether the ledger records that its last run stopped between two commits of an action. */
export function hasStoppedMidway(known: LedgerMigration | undefined): boolean {
  return (known?.reversal ?? known)?.isStopped === true;
}

/** The migrations that other runs have begun and may have left half-done, as text; empty if there are none. */
export function begunWords(state: LedgerState, run: string): string {
  const group = groupInDoubt(state, run);
  const single = new Set(migrationsBegun(state, run).filter((version) => !group.has(version)));
  const names = [...single].map((version) => nameOf(state, [version]));
  return [...(group.size === 0 ? [] : [formatGroup(group)]), ...names].join(", ");
}

function nameOf({ migrations }: LedgerState, versions: readonly number[]): string {
  const known = versions.length === 1 ? migrations.get(versions[0]!) : undefined;
  return known === undefined ? formatGroup(versions) : formatMigration(known);
}

/** `3 minutes ago`. */
export function ago(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${count(seconds, "second")} ago`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${count(minutes, "minute")} ago` : `${count(Math.round(minutes / 60), "hour")} ago`;
}
