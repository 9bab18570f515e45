/**
 * Executes planned migrations under a lease. A run that is killed at any point can be resumed: the ledger and the
 * target together always show how far it got.
 */
import { replacesTable } from "../../actions/apply-action.ts";
import type { LedgerEntry, Preserved } from "../../ledger/state/record.ts";
import { begunHash } from "../../migrations/checksum.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import { unitsBegun } from "../../plan/history/migration-run.ts";
import { recordFacts } from "../../plan/history/record-facts.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import { migrationsInBatch, isGroup, type MigrationBatch } from "../../plan/group/group-migrations.ts";
import { executeAction, metadataError } from "./action-events.ts";
import { groupRecord, executeGroup } from "./execute-group.ts";
import { lostUnanswered } from "./side-effects.ts";
import {
  beginMigration,
  events,
  factsNow,
  recordProgress,
  refusedAtOnce,
  stopIfInterrupted,
  stopped,
  type Execution,
  type MigrationProgress,
  type RunProgress,
} from "./migration-progress.ts";
import { executeGuarded, type Guarded, type GuardedRun } from "./write-guard.ts";
import { compileMigration } from "../../plan/compile/compile.ts";
import { computingOf } from "../run-context.ts";
import { newlyDeferred } from "../deferred/newly-deferred.ts";
import { hookFailedEvent } from "../hooks.ts";
import { requireReadable } from "../check/check-readable.ts";
import { reapplyForeignSettings } from "./reapply-foreign-settings.ts";
import { isSince, releaseRestorePoints, restorePoints } from "./restore-points.ts";

/** Executes the migrations, returns how many, and releases the lease with the last record. */
export async function runMigrations(units: readonly MigrationBatch[], given: Execution): Promise<number> {
  const { lease } = given;
  const execution = { ...given, bound: new Map(given.bound) };
  const migrations = units.flatMap(migrationsInBatch);
  const kept: PlannedMigration[] = [];
  let ended = 0;
  let { lastRan } = given;
  for (const [index, unit] of units.entries()) {
    const following = units[index + 1];
    const { records, lost } = isGroup(unit)
      ? await executeGroup(unit, ended, { ...execution, lastRan })
      : { records: [await executeMigration(unit, ended, { ...execution, lastRan })], lost: undefined };
    const own = migrationsInBatch(unit);
    lastRan = own.at(-1)!.migration;
    ended += own.length;
    if (!isGroup(unit) && unit.direction === "down") {
      await lease.record(records);
      await releaseUnneeded(unit, migrations.slice(ended), kept, execution);
    } else if (following === undefined || lost !== undefined) await lease.release(records);
    else await lease.record(leadingTo(following, records));
    const group = own.length > 1 ? { group: own.length } : {};
    for (const [at, { direction, migration }] of own.entries()) {
      const { version, name } = migration;
      execution.emit({ event: events[direction].end, version, name, duration: records[at]?.duration ?? 0, ...group });
    }
    await callAfter(own, records, execution).catch(async (error: unknown) => {
      if (lost !== undefined) return void execution.emit(hookFailedEvent(error));
      if (following !== undefined) await leaveUnbegun(following, lease);
      throw error;
    });
    if (lost !== undefined) throw lost;
  }
  return ended;
}

async function callAfter(
  migrations: readonly PlannedMigration[],
  records: readonly LedgerEntry[],
  { runHooks }: Execution,
): Promise<void> {
  await runHooks?.after(
    migrations.map(({ migration: { version, name } }, at) => ({ version, name, duration: records[at]?.duration ?? 0 })),
  );
}

/** Ends the epoch before a unit whose beginning is recorded and of which nothing is done. */
async function leaveUnbegun(unit: MigrationBatch, lease: Lease): Promise<void> {
  const { migration, total, attempt } = migrationsInBatch(unit)[0]!;
  const nothing = recordFacts(migration, [], { step: 0, total, attempt, duration: 0, tables: {} });
  await lease.release([{ event: "interrupted", ...nothing }]).catch(() => {});
}

/** The records with what comes after each. If they are written one by one, the last may be missing. */
function leadingTo(following: MigrationBatch, records: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const [first] = migrationsInBatch(following);
  const linked = records.map((record, index) => ({
    ...record,
    next: records[index + 1]?.version ?? first!.migration.version,
  }));
  return isGroup(following) ? [...linked, groupRecord(following)] : linked;
}

/** Releases the versions that were kept for a migration that is rolled back now. `rest`: what is still to roll back. */
async function releaseUnneeded(
  planned: PlannedMigration,
  rest: readonly PlannedMigration[],
  kept: PlannedMigration[],
  execution: Execution,
): Promise<void> {
  const { lease, target, ledger } = execution;
  // A run that took over before the migration was recorded as rolled back still needs the version.
  await lease.check();
  // Applied again, the migration computes all values again.
  const { dropLate } = await computingOf(execution);
  for (const { action } of compileMigration(planned.migration, target.capabilities))
    await dropLate(action, target, ledger).catch(() => {});
  if (isSince(planned, rest)) kept.push(planned);
  else await releaseRestorePoints(planned, target, ledger, lease.epoch());
  if (rest.length > 0) return;
  for (const one of kept) await releaseRestorePoints(one, target, ledger, lease.epoch());
  await lease.release([{ event: "renewed" }]);
}

/** Returns the record of the migration's end. If the migration is stopped, records how far it got, and throws. */
async function executeMigration(
  given: PlannedMigration,
  applied: number,
  execution: RunProgress["execution"],
): Promise<LedgerEntry> {
  const progress = await beginMigration(given, applied, execution);
  const { planned } = progress;
  const { writeGuard } = execution;
  // Before anything is recorded: a record that counts the found action as done would end the checks of it.
  await checkFound(progress);
  await callBefore(progress);
  await keepRestorePoints(progress);
  for (const [index, action] of planned.actions.entries()) {
    const isFirst = index === 0;
    await stopIfInterrupted(progress, isFirst);
    if (action.recordFirst) await recordProgress(progress);
    // The run that was taken over may have done the action that is in doubt, or may still do it.
    const mayBeDone = planned.inDoubt && isFirst;
    const context = contextOf(progress, action, isFirst);
    const run: GuardedRun = (mayAct, inDoubt) => executeAction(action, mayBeDone || inDoubt, { ...context, mayAct });
    const ending: Guarded =
      writeGuard === undefined || planned.direction === "up"
        ? await executeAction(action, mayBeDone, context)
        : await executeGuarded(run, planned, action, progress.done, writeGuard);
    await requireDone(progress, action, ending, context);
  }
  await progress.versions.date(execution.target);
  const detail = await newlyDeferred(planned, execution.target);
  return { event: events[planned.direction].end, ...factsNow(progress, planned.units), ...(detail && { detail }) };
}

async function callBefore(progress: MigrationProgress): Promise<void> {
  const { planned, execution } = progress;
  await execution.runHooks?.before(planned.migration).catch(async (error: unknown) => {
    throw await stopped(progress, planned.actions[0]!, { error, inDoubt: planned.inDoubt });
  });
}

async function keepRestorePoints(progress: MigrationProgress): Promise<void> {
  const { planned, execution, versions } = progress;
  const points = await restorePoints(planned, execution).catch(async (error: unknown) => {
    throw await stopped(progress, planned.actions[0]!, { error, inDoubt: planned.inDoubt });
  });
  if (points === undefined) return;
  versions.begin(points);
  // Recorded before anything is changed: a run that resumes must know these versions.
  await recordProgress(progress);
}

/** Checks what the last action of a run that was stopped has left. */
async function checkFound(progress: MigrationProgress): Promise<void> {
  const { planned, execution } = progress;
  const { found } = planned;
  if (found === undefined) return;
  await requireReadable(found, execution).catch(async (error: unknown) => {
    // The drop is undone, or must be: the next run checks again.
    progress.done--;
    throw await stopped(progress, found, { error, inDoubt: true });
  });
  const lost = await lostByFound(found, planned, execution);
  if (lost !== undefined) throw await stopped(progress, found, { error: lost, inDoubt: false });
}

/** What the next action needs to be executed. */
function contextOf(progress: MigrationProgress, { action }: PlannedAction, isFirst: boolean) {
  const { planned, execution } = progress;
  const { version, name } = planned.migration;
  return {
    ...execution,
    ...notesOf(progress),
    midway: isFirst ? planned.midway : undefined,
    place: { version, name, action: progress.done + 1, total: planned.total },
    bound: execution.bound.get(action.table),
    mayLose: execution.writeGuard === undefined,
  };
}

/** Counts the action as done. If it failed, or has lost something of others, records how far the migration got, and throws. */
async function requireDone(
  progress: MigrationProgress,
  action: PlannedAction,
  ending: Guarded,
  { place, notes }: ReturnType<typeof contextOf>,
): Promise<void> {
  const { execution, versions } = progress;
  if ("error" in ending) {
    if (ending.part !== undefined) versions.note(action, ending.part);
    throw (
      (notes.hasBegun ? undefined : await refusedAtOnce(progress, ending)) ??
      (await stopped(progress, action, ending, notes.unwritten))
    );
  }
  versions.note(action, ending);
  // From here on, the name may belong to another table.
  if (replacesTable.has(action.action.kind)) execution.bound.delete(action.action.table);
  progress.done++;
  // The action is done, so the loss is reported only once.
  const lost = ending.lost ?? metadataError(place, ending.harm);
  if (lost !== undefined) throw await stopped(progress, action, { error: lost, inDoubt: false });
}

/** Notes of the next action in the ledger. `unwritten`: why one of them failed. */
function notesOf(progress: MigrationProgress) {
  const { planned, done } = progress;
  const notes = { hasBegun: false, unwritten: undefined as unknown };
  return {
    notes,
    async note({ indexes, metadata }: Preserved, commit: number): Promise<void> {
      notes.hasBegun = true;
      const step = begunHash(unitsBegun(planned, done + 1).at(-1)!);
      await recordProgress(progress, { step, commit, indexes, metadata }).catch((cause: unknown) => {
        notes.unwritten = cause;
        throw cause;
      });
    },
  };
}

/** The error if the last action of a run that was stopped has lost something; otherwise undefined. */
async function lostByFound(
  found: PlannedAction,
  { migration: { version, name }, done, total }: PlannedMigration,
  { target, lease, writeGuard, emit }: Execution,
): Promise<unknown> {
  const place = { version, name, action: done, total };
  const { action, after } = found;
  try {
    const now = await target.describeTable(action.table);
    const harm = await lostUnanswered(action, undefined, now, after.get(action.table), { target, lease });
    const mayLose = writeGuard === undefined;
    const { harm: lost } = await reapplyForeignSettings(found, {}, { target, lease, place, emit, mayLose });
    return metadataError(place, harm?.problem ?? lost);
  } catch (error) {
    return error;
  }
}
