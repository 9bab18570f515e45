/**
 * Executes planned migrations under a lease. A run that is killed at any point can be resumed: the ledger and the
 * target together always show how far it got.
 */
import { count, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import type { LedgerEntry, OwnVersions, TableVersions } from "../../ledger/state/record.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import { stepHash } from "../../migrations/checksum.ts";
import { compileMigration } from "../../plan/compile/compile.ts";
import { factsOf } from "../../plan/history/record-facts.ts";
import { restoringAfter } from "../../plan/assess/blocking-rows.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import { vectorsHint } from "../../plan/compile/vector-index-check.ts";
import type { Target } from "../../targets/contract/target.ts";
import { actBlindly } from "./undescribed-action.ts";
import { act } from "./described-action.ts";
import { actInCommits, mayTakeCommits, type Noting } from "./multi-commit-action.ts";
import { lostUnanswered, replacesTable } from "./side-effects.ts";
import type { Acting, Ending, FailedCall } from "./send-action.ts";
import type { RunContext } from "../run-context.ts";
import type { SeenTable } from "../check/table-identity.ts";
import { guarded } from "./guarded-action.ts";
import type { LateWrites } from "./late-writes.ts";
import { requireReadable } from "./check-readable.ts";
import { putOthersBack } from "./reapply-changes-by-others.ts";
import { isSince, releaseRestorePoints, restorePoints, trackVersions } from "./restore-points.ts";

export interface Execution extends Pick<RunContext, "target" | "ledger" | "clock" | "emit" | "signal"> {
  readonly lease: Lease;
  /** Set if writes that others make meanwhile must not be lost. */
  readonly lateWrites?: LateWrites | undefined;
  /** The tables for which a saved plan was made. */
  readonly bound?: ReadonlyMap<string, SeenTable> | undefined;
  /** Whether a migration may lose what can't be brought back; when absent, every one may. */
  readonly mayBeLost?: ((planned: PlannedMigration) => boolean) | undefined;
}

/** The ledger events of each direction: under way, and at the end. */
const events = {
  up: { onTheWay: "advanced", end: "applied" },
  down: { onTheWay: "reverting", end: "reverted" },
} as const;

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
  execution: Execution & { readonly bound: Map<string, SeenTable> },
): Promise<LedgerEntry> {
  const starts =
    given.direction === "down" ? (given.startedAt ?? (await startsOf(given, execution.target))) : undefined;
  const planned = starts === undefined ? given : restoringAfter(given, starts);
  const { target, lease, clock, emit, signal, bound } = execution;
  const { migration, direction, units, total, attempt } = planned;
  const { onTheWay, end } = events[direction];
  const { version, name } = migration;
  const started = clock.steady();
  let done = planned.done;
  const ran = direction === "up" ? compileMigration(migration, target.capabilities).slice(0, done) : [];
  const versions = trackVersions(
    planned,
    ran.map(({ action }) => action),
  );
  const facts = (ran: readonly unknown[] = units.slice(0, planned.begun[done - 1] ?? 0)) =>
    factsOf(migration, ran, {
      step: done,
      total,
      attempt,
      duration: Math.round(clock.steady() - started),
      tables: starts ?? versions.tables(),
    });

  /** The error that the run ends with. It is recorded here if the ledger may be written. */
  const failed = async (action: PlannedAction, { error: cause, inDoubt }: FailedCall, unwritten?: unknown) => {
    // A record whose write failed may be stored anyway, so nothing may follow it.
    if (isHeld(cause) || (cause !== undefined && cause === unwritten)) {
      emit({ event: "left", version, name, direction, applied, done, total });
      return cause;
    }
    // Errors such as drift or an unexpected result already state what is wrong.
    const error =
      isMigrateError(cause) && !isMigrateError(cause, "ERR_ANSWER")
        ? cause
        : new MigrateError(
            "ERR_STEP_FAILED",
            {
              ...action.place,
              problem: `${target.explain(cause)}${vectorsHint(action.action)}`,
              direction,
              done,
              total,
              applied,
            },
            { cause },
          );
    // If this can't be written either, the lease is not released: the next run takes it over and checks the tables.
    const record = { event: "failed", ...facts(), detail: error.message } as const;
    await lease.release([record], inDoubt ? version : undefined).catch(() => {});
    return error;
  };

  emit({ event: "started", version, name, direction, done, total });
  if (direction === "down") await lease.record([{ event: onTheWay, ...facts(), next: version }]);
  const points = await restorePoints(planned, execution).catch(async (cause: unknown) => {
    throw await failed(planned.actions[0]!, { error: cause, inDoubt: planned.doubtful });
  });
  if (points !== undefined) {
    versions.begin(points);
    // Recorded before anything is changed: a run that resumes must know these versions.
    await lease.record([{ event: onTheWay, ...facts(), next: version }]);
  }
  const unreadable = await unreadableByFound(planned, execution);
  if (unreadable !== undefined) {
    // The drop is undone, or must be: the next run checks again.
    done--;
    throw await failed(planned.found!, { error: unreadable, inDoubt: true });
  }
  const unchecked = await lostByFound(planned, execution);
  if (unchecked !== undefined) throw await failed(planned.found!, { error: unchecked, inDoubt: false });
  for (const [index, action] of planned.actions.entries()) {
    if (signal?.aborted === true) {
      const inDoubt = planned.doubtful && index === 0;
      await lease.release([{ event: "interrupted", ...facts() }], inDoubt ? version : undefined);
      throw new MigrateError("ERR_INTERRUPTED", { done: progressText(applied, done, planned) });
    }
    if (action.recordFirst) await lease.record([{ event: onTheWay, ...facts(), next: version }]);
    const place = { version, name, action: done + 1, total };
    // The run that was taken over may have done the action that is in doubt, or may still do it.
    const mayBeDone = planned.doubtful && index === 0;
    let unwritten: unknown;
    const noting: Noting = {
      midway: index === 0 ? planned.midway : undefined,
      note: async (kept, commit) => {
        const { indexes, metadata } = kept;
        const step = stepHash(units[planned.begun[done]! - 1]!);
        const midway = { step, commit, indexes, metadata };
        try {
          await lease.record([{ event: onTheWay, ...facts(), next: version, midway }]);
        } catch (cause) {
          unwritten = cause;
          throw cause;
        }
      },
    };
    const run = async (mayAct: Acting["mayAct"], inDoubt: boolean) =>
      await executeAction(action, mayBeDone || inDoubt, {
        ...noting,
        target,
        lease,
        clock,
        emit,
        place,
        bound: bound.get(action.action.table),
        pending: [],
        mayAct,
        mayLose: execution.lateWrites === undefined,
      });
    const ending = await guarded(run, planned, action, done, execution.lateWrites);
    if ("error" in ending) throw await failed(action, ending, unwritten);
    versions.note(action, ending);
    // From here on, the name may belong to another table.
    if (replacesTable.has(action.action.kind)) bound.delete(action.action.table);
    done++;
    // The action is done, so the loss is reported only once.
    const lost = ending.lost ?? lostMetadata(place, ending.harm);
    if (lost !== undefined) throw await failed(action, { error: lost, inDoubt: false });
  }
  await versions.date(target);
  return { event: end, ...facts(units) };
}

/** Why a table can't be read since the last action of a run that was stopped; undefined if it can be. */
async function unreadableByFound({ found }: PlannedMigration, { target, lease }: Execution): Promise<unknown> {
  if (found === undefined) return undefined;
  try {
    await requireReadable(found, { target, lease });
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The error if the last action of a run that was stopped has lost something; otherwise undefined. */
async function lostByFound(
  { found, migration: { version, name }, done, total }: PlannedMigration,
  { target, lease, lateWrites, emit }: Execution,
): Promise<unknown> {
  const place = { version, name, action: done, total };
  if (found === undefined) return undefined;
  const { action, after } = found;
  try {
    const now = await target.describeTable(action.table);
    const harm = await lostUnanswered(action, undefined, now, after.get(action.table), { target, lease });
    const mayLose = lateWrites === undefined;
    const { harm: lost } = await putOthersBack(found, {}, { target, lease, place, emit, mayLose });
    return lostMetadata(place, harm?.problem ?? lost);
  } catch (error) {
    return error;
  }
}

function lostMetadata(
  { version, name, action }: Acting["place"],
  problem: string | undefined,
): MigrateError | undefined {
  if (problem === undefined) return undefined;
  return new MigrateError("ERR_METADATA_LOST", { version: formatVersion(version), name, action, problem });
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
function isHeld(cause: unknown): boolean {
  return (
    ["ERR_LEASE_LOST", "ERR_ACTED_LATE", "ERR_TARGET_UNREACHABLE", "ERR_CREDENTIALS", "ERR_LEDGER_UNWRITABLE"] as const
  ).some((code) => isMigrateError(cause, code));
}

function progressText(ended: number, done: number, { direction, total, migration }: PlannedMigration): string {
  const are = (number: number) => (number === 1 ? "is" : "are");
  const [what, of] = direction === "up" ? ["applied", "of"] : ["rolled back", "that roll back"];
  const some = `${ended} ${ended === 1 ? "migration was" : "migrations were"} ${what}`;
  const part =
    done === 0 ? "" : `, ${done} of ${count(total, "action")} ${of} ${formatMigration(migration)} ${are(done)} done`;
  return `${some}${part}; run migrate ${direction} to continue`;
}

const firstWord = 2_000;

async function executeAction(planned: PlannedAction, mayBeDone: boolean, acting: Acting & Noting): Promise<Ending> {
  const { target, clock, emit, place, pending } = acting;
  const { text } = planned;
  emit({ event: "action", ...place, text });
  const started = clock.steady();
  const elapsed = () => Math.round(clock.steady() - started);
  const quiet = clock.every(firstWord, () => emit({ event: "running", ...place, text, elapsed: elapsed() }));
  try {
    const carryOut = target.capabilities.describes ? (mayTakeCommits(planned) ? actInCommits : act) : actBlindly;
    // A call that is still under way could reach a table that a later action makes.
    const ending = await carryOut(planned, mayBeDone, acting).finally(() => Promise.allSettled(pending));
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
