/**
 * Executes planned migrations under a lease. A run that is killed at any point can be resumed: the ledger and the
 * target together always show how far it got.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerEntry } from "../../ledger/state/record.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import { stepHash } from "../../migrations/checksum.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import { executeUndescribed } from "./undescribed-action.ts";
import { executeDescribed } from "./described-action.ts";
import { executeInCommits, mayTakeCommits, type PartialNotes } from "./multi-commit-action.ts";
import { lostUnanswered, replacesTable } from "./side-effects.ts";
import {
  beginMigration,
  events,
  factsNow,
  recordProgress,
  stopIfInterrupted,
  stopped,
  type Execution,
  type Progress,
} from "./migration-progress.ts";
import type { ActionContext, ActionResult } from "./send-action.ts";
import { executeGuarded } from "./write-guard.ts";
import { requireReadable } from "./check-readable.ts";
import { reapplyChangesByOthers } from "./reapply-changes-by-others.ts";
import { isSince, releaseRestorePoints, restorePoints } from "./restore-points.ts";

/** Executes the migrations, returns how many, and releases the lease with the last record. */
export async function execute(migrations: readonly PlannedMigration[], given: Execution): Promise<number> {
  const { lease, target } = given;
  const execution = { ...given, bound: new Map(given.bound) };
  const kept: PlannedMigration[] = [];
  for (const [index, planned] of migrations.entries()) {
    const following = migrations[index + 1];
    const ended = await executeMigration(planned, index, execution);
    const record = following?.direction === "up" ? { ...ended, next: following.migration.version } : ended;
    if (planned.direction === "down") {
      // A migration that is not known to be rolled back may still need the version.
      await lease.record([record]);
      // A run that took over before this record was written still needs the version.
      await lease.check();
      if (isSince(planned, migrations.slice(index + 1))) kept.push(planned);
      else await releaseRestorePoints(planned, target, execution.ledger, lease.epoch());
      if (following === undefined) {
        for (const one of kept) await releaseRestorePoints(one, target, execution.ledger, lease.epoch());
        await lease.release([{ event: "renewed" }]);
      }
    } else if (following === undefined) await lease.release([record]);
    else await lease.record([record]);
    const { version, name } = planned.migration;
    execution.emit({ event: events[planned.direction].end, version, name, duration: ended.duration ?? 0 });
  }
  return migrations.length;
}

/** Returns the record of the migration's end. If the migration is stopped, records how far it got, and throws. */
async function executeMigration(
  given: PlannedMigration,
  applied: number,
  execution: Progress["execution"],
): Promise<LedgerEntry> {
  const progress = await beginMigration(given, applied, execution);
  const { planned } = progress;
  await keepRestorePoints(progress);
  await checkFound(progress);
  for (const [index, action] of planned.actions.entries()) await executeNextAction(progress, action, index === 0);
  await progress.versions.date(execution.target);
  return { event: events[planned.direction].end, ...factsNow(progress, planned.units) };
}

async function keepRestorePoints(progress: Progress): Promise<void> {
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
async function checkFound(progress: Progress): Promise<void> {
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

async function executeNextAction(progress: Progress, action: PlannedAction, isFirst: boolean): Promise<void> {
  const { planned, execution, versions } = progress;
  const { bound, writeGuard } = execution;
  const { version, name } = planned.migration;
  await stopIfInterrupted(progress, isFirst);
  if (action.recordFirst) await recordProgress(progress);
  // The run that was taken over may have done the action that is in doubt, or may still do it.
  const mayBeDone = planned.inDoubt && isFirst;
  const place = { version, name, action: progress.done + 1, total: planned.total };
  let unwritten: unknown;
  const note: PartialNotes["note"] = async ({ indexes, metadata }, commit) => {
    const step = stepHash(planned.units[planned.begun[progress.done]! - 1]!);
    await recordProgress(progress, { step, commit, indexes, metadata }).catch((cause: unknown) => {
      unwritten = cause;
      throw cause;
    });
  };
  const run = async (mayAct: ActionContext["mayAct"], inDoubt: boolean) =>
    await executeAction(action, mayBeDone || inDoubt, {
      ...execution,
      midway: isFirst ? planned.midway : undefined,
      note,
      place,
      bound: bound.get(action.action.table),
      pending: [],
      mayAct,
      mayLose: writeGuard === undefined,
    });
  const ending = await executeGuarded(run, planned, action, progress.done, writeGuard);
  if ("error" in ending) throw await stopped(progress, action, ending, unwritten);
  versions.note(action, ending);
  // From here on, the name may belong to another table.
  if (replacesTable.has(action.action.kind)) bound.delete(action.action.table);
  progress.done++;
  // The action is done, so the loss is reported only once.
  const lost = ending.lost ?? lostMetadata(place, ending.harm);
  if (lost !== undefined) throw await stopped(progress, action, { error: lost, inDoubt: false });
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
    const { harm: lost } = await reapplyChangesByOthers(found, {}, { target, lease, place, emit, mayLose });
    return lostMetadata(place, harm?.problem ?? lost);
  } catch (error) {
    return error;
  }
}

function lostMetadata(
  { version, name, action }: ActionContext["place"],
  problem: string | undefined,
): MigrateError | undefined {
  if (problem === undefined) return undefined;
  return new MigrateError("ERR_METADATA_LOST", { version: formatVersion(version), name, action, problem });
}

const firstWord = 2_000;

async function executeAction(
  planned: PlannedAction,
  mayBeDone: boolean,
  context: ActionContext & PartialNotes,
): Promise<ActionResult> {
  const { target, clock, emit, place, pending } = context;
  const { text } = planned;
  emit({ event: "action", ...place, text });
  const started = clock.steady();
  const elapsed = () => Math.round(clock.steady() - started);
  const quiet = clock.every(firstWord, () => emit({ event: "running", ...place, text, elapsed: elapsed() }));
  try {
    const inCommits = mayTakeCommits(planned) ? executeInCommits : executeDescribed;
    const carryOut = target.capabilities.describes ? inCommits : executeUndescribed;
    // A call that is still under way could reach a table that a later action makes.
    const ending = await carryOut(planned, mayBeDone, context).finally(() => Promise.allSettled(pending));
    // Any of these calls may have done harm, whichever was answered first.
    const called = await Promise.all(pending);
    if ("error" in ending) return ending;
    emit({ event: "done", ...place, text, duration: elapsed() });
    return { ...ending, harm: ending.harm ?? called.find(({ harm }) => harm !== undefined)?.harm };
  } catch (error) {
    // A description or a query failed. The action may have run.
    return { error, inDoubt: true };
  } finally {
    quiet();
  }
}
