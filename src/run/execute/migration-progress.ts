/** How far a run has got in a migration, what it records of that, and how it ends when it is stopped. */
import { count, isInterruption, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import type { OwnVersions, PartialAction, TableVersions } from "../../ledger/state/record.ts";
import { formatMigration, type MigrationName } from "../../migrations/file-name.ts";
import { restoringAfter } from "../../plan/assess/blocking-rows.ts";
import { ActionFailed } from "../calls/action-failed.ts";
import { castHint } from "../../plan/compile/cast-hint.ts";
import { vectorsHint } from "../../plan/compile/vector-index-check.ts";
import { unitsBegun } from "../../plan/history/migration-run.ts";
import { recordFacts } from "../../plan/history/record-facts.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { SeenTable } from "../check/foreign-changes.ts";
import type { RunHooks } from "../hooks.ts";
import type { RunContext } from "../run-context.ts";
import type { WriteGuard } from "./write-guard.ts";
import { trackVersions, type VersionsTrack } from "./restore-points.ts";
import type { FailedCall } from "./send-action.ts";

export interface Execution extends Pick<RunContext, "target" | "computing" | "ledger" | "clock" | "emit" | "signal"> {
  readonly lease: Lease;
  /** Set if writes that others make meanwhile must not be lost. */
  readonly writeGuard?: WriteGuard | undefined;
  /** The tables for which a saved plan was made. */
  readonly bound?: ReadonlyMap<string, SeenTable> | undefined;
  /** Why the first call of the run was refused, if the tables show it. Set if they were not asked before. */
  readonly checkAfterRefusal?: ((cause: unknown) => Promise<unknown>) | undefined;
  /** The migration that ran last, which `down` would roll back. */
  readonly lastRan?: MigrationName | undefined;
  /** Whether a migration may lose what can't be brought back; when absent, every one may. */
  readonly mayLoseVersion?: ((planned: PlannedMigration) => boolean) | undefined;
  readonly runHooks?: RunHooks | undefined;
}

/** The ledger events of each direction: under way, and at the end. */
export const events = {
  up: { onTheWay: "advanced", end: "applied" },
  down: { onTheWay: "reverting", end: "reverted" },
} as const;

/** What this run executes, a migration or a group, and how far it has got in it. */
export interface RunProgress {
  readonly execution: Execution & { readonly bound: Map<string, SeenTable> };
  /** How many migrations this run has ended before. */
  readonly applied: number;
  readonly started: number;
  readonly versions: VersionsTrack;
  /** How many of the migration's actions, or of the group's calls, are done. */
  done: number;
}

export interface MigrationProgress extends RunProgress {
  readonly planned: PlannedMigration;
  /** Of a rollback: the versions of its tables when it began. */
  readonly starts: TableVersions | undefined;
}

/** Reports and records that the migration begins. */
export async function beginMigration(
  given: PlannedMigration,
  applied: number,
  execution: RunProgress["execution"],
): Promise<MigrationProgress> {
  const { target, clock, emit } = execution;
  const { migration, direction, done, total } = given;
  const starts = direction === "down" ? (given.startedAt ?? (await startsOf(given, target))) : undefined;
  const planned = starts === undefined ? given : restoringAfter(given, starts);
  const versions = trackVersions(planned, direction === "up" ? planned.ran : []);
  const progress = { planned, execution, applied, started: clock.steady(), starts, versions, done };
  emit({ event: "started", version: migration.version, name: migration.name, direction, done, total });
  if (direction === "down") await recordProgress(progress);
  return progress;
}

/** `ran`: the units that have begun. */
export function factsNow(
  progress: MigrationProgress,
  ran: readonly unknown[] = unitsBegun(progress.planned, progress.done),
) {
  const { planned, starts, versions, done } = progress;
  const { migration, total, attempt } = planned;
  const [duration, tables] = [elapsed(progress), starts ?? versions.tables()];
  return recordFacts(migration, ran, { step: done, total, attempt, duration, tables });
}

/** Milliseconds. */
export function elapsed({ execution, started }: RunProgress): number {
  return Math.round(execution.clock.steady() - started);
}

export async function recordProgress(progress: MigrationProgress, midway?: PartialAction): Promise<void> {
  const { planned, execution } = progress;
  const { onTheWay } = events[planned.direction];
  const facts = { ...factsNow(progress), next: planned.migration.version };
  // An overtaken run must not record that it begins beside what its successor has begun: `up` and `down` would refuse, each until the other ends.
  await execution.lease.check();
  await execution.lease.record([{ event: onTheWay, ...facts, ...(midway !== undefined && { midway }) }]);
}

export async function stopIfInterrupted(progress: MigrationProgress, isFirst: boolean): Promise<void> {
  const { planned, execution, applied, done } = progress;
  if (execution.signal?.aborted !== true) return;
  const { version } = planned.migration;
  const inDoubt = planned.inDoubt && isFirst;
  await execution.lease.release([{ event: "interrupted", ...factsNow(progress) }], inDoubt ? version : undefined);
  throw new MigrateError("ERR_INTERRUPTED", { done: progressText(applied, done, planned) });
}

/** The error that the run ends with. It is recorded here if the ledger may be written. `unwritten`: why a record failed. */
export async function stopped(
  progress: MigrationProgress,
  action: PlannedAction,
  { error: cause, inDoubt, left }: FailedCall,
  unwritten?: unknown,
): Promise<unknown> {
  const { planned, execution, applied, done } = progress;
  const { direction, total, migration } = planned;
  const { version, name } = migration;
  const { lease, emit } = execution;
  // A record whose write failed may be stored anyway, so nothing may follow it.
  const mayNotRecord = isHeld(cause) || (cause !== undefined && cause === unwritten);
  // What these errors state is about the target.
  if (mayNotRecord || (isMigrateError(cause) && cause.outcome === "unreachable" && isStated(cause)))
    emit({ event: "left", version, name, direction, isTakenOver: isTakenOver(cause), applied, done, total });
  if (mayNotRecord) return cause;
  const { error, detail } = isStated(cause)
    ? { error: cause, detail: cause.message }
    : stepFailed(progress, action, { error: cause, inDoubt, left });
  // If this can't be written either, the lease is not released: the next run takes it over and checks the tables.
  const record = isInterruption(error)
    ? ({ event: "interrupted", ...factsNow(progress) } as const)
    : ({ event: "failed", ...factsNow(progress), detail } as const);
  await lease.release([record], inDoubt ? version : undefined).catch(() => {});
  return error;
}

/**
 * Why the first call of the run was refused. Nothing was changed and nothing recorded, so the run ends as if that had
 * been known before. Undefined if it is another call, or if the tables do not show it.
 */
export async function refusedAtOnce(
  { execution, applied, done }: MigrationProgress,
  { error, inDoubt }: FailedCall,
): Promise<unknown> {
  if (applied + done > 0 || inDoubt || isStated(error)) return undefined;
  // If the tables can't be asked, the engine's own words are what is known.
  return await execution.checkAfterRefusal?.(error).catch(() => undefined);
}

/** Errors such as drift or an unexpected result already state what is wrong. */
export function isStated(cause: unknown): cause is MigrateError {
  return isMigrateError(cause) && !isMigrateError(cause, "ERR_ANSWER");
}

/** `detail`: what is recorded of it. It leaves out what `down` would roll back, since that changes. */
function stepFailed(
  { planned, execution, applied, done }: MigrationProgress,
  action: PlannedAction,
  { error: cause, inDoubt, left = [] }: FailedCall,
): { readonly error: MigrateError; readonly detail: string } {
  const vectors = cause instanceof ActionFailed ? "" : vectorsHint(action.action);
  const words = execution.target.explain(cause);
  const problem = `${words}${vectors}${castHint(action.action, action.before.get(action.action.table), words)}`;
  const { direction, total } = planned;
  const details = { ...action.place, problem, direction, done, total, applied, left };
  const isBefore = direction === "up" && done === 0 && !inDoubt;
  const error = new MigrateError("ERR_STEP_FAILED", { ...details, ...(isBefore && lastRanIn(execution)) }, { cause });
  return { error, detail: new MigrateError("ERR_STEP_FAILED", details).message };
}

/** For the message of a migration of which nothing is done. */
export function lastRanIn({ lastRan }: Execution): { readonly back?: string } {
  return lastRan === undefined ? {} : { back: formatMigration(lastRan) };
}

/** The current versions of the tables that will be restored to older ones. */
async function startsOf({ actions }: PlannedMigration, target: Target): Promise<TableVersions> {
  const starts: Record<string, OwnVersions> = {};
  for (const { action } of actions)
    if (action.kind === "restoreTable")
      starts[action.table] = [(await target.describeTable(action.table))?.version ?? null, null];
  return starts;
}

/**
 * Errors after which the ledger must not be written: the lease runs out, and the next run finds out how far this one
 * got.
 */
export function isHeld(cause: unknown): boolean {
  return (
    ["ERR_LEASE_LOST", "ERR_ACTED_LATE", "ERR_TARGET_UNREACHABLE", "ERR_CREDENTIALS", "ERR_LEDGER_UNWRITABLE"] as const
  ).some((code) => isMigrateError(cause, code));
}

/** Whether the error means that another run may hold the lease by now. */
export function isTakenOver(cause: unknown): boolean {
  return isMigrateError(cause, "ERR_ACTED_LATE") || isMigrateError(cause, "ERR_LEASE_LOST");
}

function progressText(ended: number, done: number, { direction, total, migration }: PlannedMigration): string {
  const are = (number: number) => (number === 1 ? "is" : "are");
  const [what, of] = direction === "up" ? ["applied", "of"] : ["rolled back", "that roll back"];
  const some = `${ended} ${ended === 1 ? "migration was" : "migrations were"} ${what}`;
  const part =
    done === 0 ? "" : `, ${done} of ${count(total, "action")} ${of} ${formatMigration(migration)} ${are(done)} done`;
  return `${some}${part}; run migrate ${direction} to continue`;
}
