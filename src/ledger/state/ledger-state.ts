/** The state of a ledger, and what follows from it. Pure. */
import type { LedgerMigration } from "./fold-migration.ts";
import type { LedgerRecord, PartialAction } from "./record.ts";

interface Holder {
  readonly by: string;
  readonly run: string;
  /** Another run may take over after this many milliseconds without a new record. */
  readonly lease: number;
  /** The migration that it works on. */
  readonly next: number | undefined;
  /** The migrations of the group that it runs as one; empty if it runs them one by one. */
  readonly group: ReadonlySet<number>;
}

export interface LedgerState {
  /** The newest record. */
  readonly head: LedgerRecord | undefined;
  /** The newest record whose event is not `taken`. */
  readonly lastStatement: LedgerRecord | undefined;
  /** The last epoch, 0 if there is none. `holder` is the run that took it, until it is released. */
  readonly epoch: number;
  readonly holder: Holder | undefined;
  /** In ascending order of version. */
  readonly migrations: ReadonlyMap<number, LedgerMigration>;
  /**
   * Migrations in doubt: their first action that is not recorded as done may have run anyway. Either their holder
   * stopped adding records, or ended without knowing the outcome, and no later record is about them; or a late call is
   * not recorded as done. The migration that the current holder works on is not included: see `migrationsInDoubt`.
   */
  readonly inDoubt: ReadonlySet<number>;
  /** Those in doubt that were to run as one group: each of their tables is as before all of them, or as after all. */
  readonly group: ReadonlySet<number>;
  /** Late calls whose tables no run has checked since. */
  readonly late: readonly LateCall[];
  /** The detail of the newest record that states which indexes are deferred, or that none are. The tables show them. */
  readonly deferral: string | undefined;
}

/** A call that may have taken effect after its run had lost the lease. */
export interface LateCall {
  readonly epoch: number;
  readonly version: number;
  /** The number of the action in the migration or in its rollback, counted from 1. */
  readonly action: number;
  readonly isBack: boolean;
  /** What was recorded when the action began, if it has several commits. */
  readonly midway: PartialAction | undefined;
}

/** In ascending order of version, without migrations that are being rolled back, even if only by a late record. */
export function appliedIn({ migrations }: Pick<LedgerState, "migrations">): readonly LedgerMigration[] {
  return [...migrations.values()].filter(({ status, reversal }) => status === "applied" && reversal === undefined);
}

/** Whether the ledger records an action as done. */
export function isDone(
  known: Pick<LedgerMigration, "status" | "step" | "reversal"> | undefined,
  { action, isBack }: Pick<LateCall, "action" | "isBack">,
): boolean {
  // Without a reversal, the rollback has ended, or counts as never begun.
  if (isBack) return (known?.reversal?.step ?? Infinity) >= action;
  return known?.status === "applied" || (known?.step ?? 0) >= action;
}

/** Whether some but not all of it is done or may be done, or it is being rolled back. */
export function isHalfDone({ status, step, midway, reversal }: LedgerMigration): boolean {
  return reversal !== undefined || (status === "partial" && (step > 0 || midway !== undefined));
}

/** Migrations that may have run without a record, as seen by `run`: what it works on itself is not in doubt to it. */
export function migrationsInDoubt({ inDoubt, holder }: LedgerState, run: string): ReadonlySet<number> {
  return holder?.next === undefined || holder.run === run ? inDoubt : new Set([...inDoubt, ...workOf(holder)]);
}

/** The group in doubt, as seen by `run`; empty if there is none. */
export function groupInDoubt({ group, holder }: LedgerState, run: string): ReadonlySet<number> {
  return holder === undefined || holder.run === run || holder.group.size === 0 ? group : holder.group;
}

/** The migrations that a holder works on. */
export function workOf({ next, group }: Pick<Holder, "next" | "group">): readonly number[] {
  return next === undefined ? [] : [...new Set([next, ...group])];
}

/** The versions of the migrations that are half-done, in doubt, or have a late call. */
export function migrationsBegun(state: LedgerState, run: string): readonly number[] {
  const half = [...state.migrations.values()].filter(isHalfDone);
  const versionsOf = (all: readonly { readonly version: number }[]) => all.map(({ version }) => version);
  return [...versionsOf(half), ...migrationsInDoubt(state, run), ...versionsOf(state.late)];
}
