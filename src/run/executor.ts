/**
 * Carries out planned migrations under a lease. Looks before and after every action, so that a run that is killed
 * anywhere can be gone on with: the ledger and the tables together always tell how far it got.
 */
import { isMigrateError, MigrateError } from "../errors.ts";
import type { Clock } from "../ledger/clock.ts";
import type { Lease } from "../ledger/lease.ts";
import type { LedgerEntry, TableVersions } from "../ledger/record.ts";
import { stepHash } from "../migrations/checksum.ts";
import type { PlannedAction, PlannedMigration } from "../plan/plan.ts";
import { differences, sameTable } from "../schema/table.ts";
import type { Sight, Target } from "../targets/target.ts";
import type { ActionPlace, Emit } from "./events.ts";

export interface Execution {
  readonly target: Target;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly signal?: AbortSignal | undefined;
}

/** How often an action is tried again when another writer's commit came in between. */
const mostTries = 30;
const longestPause = 1_000;
const firstWord = 2_000;

/** Runs the migrations, gives how many were applied, and releases the lease with the last record. */
export async function execute(migrations: readonly PlannedMigration[], execution: Execution): Promise<number> {
  const { lease } = execution;
  for (const [index, planned] of migrations.entries()) {
    const next = migrations[index + 1]?.migration.version;
    const applied = await executeMigration(planned, index, execution);
    if (next === undefined) await lease.release([applied]);
    else await lease.record([{ ...applied, next }]);
    const { version, name } = planned.migration;
    execution.emit({ event: "applied", version, name, duration: applied.duration ?? 0 });
  }
  return migrations.length;
}

/** The record that says the migration is applied. What stops it is recorded here, with how far it got. */
async function executeMigration(
  planned: PlannedMigration,
  applied: number,
  execution: Execution,
): Promise<LedgerEntry> {
  const { target, lease, clock, emit, signal } = execution;
  const { migration, total, attempt } = planned;
  const { version, name, checksum, textHash } = migration;
  const started = clock.steady();
  const steps = migration.steps.map(stepHash);
  let tables: TableVersions = {};
  let done = planned.done;
  const facts = () => ({
    version,
    name,
    step: done,
    total,
    checksum,
    steps,
    textHash,
    attempt,
    duration: Math.round(clock.steady() - started),
    tables,
  });

  emit({ event: "started", version, name, done, total });
  for (const [index, action] of planned.actions.entries()) {
    if (signal?.aborted === true) {
      await lease.release([{ event: "interrupted", ...facts() }]);
      throw new MigrateError("ERR_INTERRUPTED", { done: progressText(applied, done, total, name) });
    }
    if (action.recordFirst) await lease.record([{ event: "advanced", ...facts(), next: version }]);
    const place = { version, action: done + 1, total };
    try {
      // Whoever was at this migration and was taken over from may yet have done the action that was in doubt.
      const mayBeDone = planned.doubtful && index === 0;
      const versions = await executeAction(action, mayBeDone, place, execution);
      const { table } = action.action;
      tables = { ...tables, [table]: [tables[table]?.[0] ?? versions.before ?? null, versions.after ?? null] };
    } catch (cause) {
      if (leavesDoubt(cause)) throw cause;
      // Drift and a result that nobody expected say themselves what is wrong.
      const error = isMigrateError(cause)
        ? cause
        : new MigrateError(
            "ERR_STEP_FAILED",
            { ...action.place, problem: target.explain(cause), done, total, applied },
            { cause },
          );
      // A ledger that can't be written either is left held: the next run takes it over and looks.
      await lease.release([{ event: "failed", ...facts(), detail: error.message }]).catch(() => {});
      throw error;
    }
    done++;
  }
  return { event: "applied", ...facts() };
}

/** Errors after which nobody can say here how far the action got; the lease runs out and the next run looks. */
function leavesDoubt(cause: unknown): boolean {
  return (["ERR_LEASE_LOST", "ERR_TARGET_UNREACHABLE", "ERR_LEDGER_UNWRITABLE"] as const).some((code) =>
    isMigrateError(cause, code),
  );
}

function progressText(applied: number, done: number, total: number, name: string): string {
  const some = `${applied} ${applied === 1 ? "migration was" : "migrations were"} applied`;
  return done === 0 ? some : `${some}, ${done} of ${total} actions of ${name} are done`;
}

interface Versions {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

async function executeAction(
  planned: PlannedAction,
  mayBeDone: boolean,
  place: ActionPlace,
  execution: Execution,
): Promise<Versions> {
  const { target, lease, clock, emit } = execution;
  const { text, action } = planned;
  emit({ event: "action", ...place, text });
  const started = clock.steady();
  const quiet = clock.every(firstWord, () =>
    emit({ event: "running", ...place, text, elapsed: Math.round(clock.steady() - started) }),
  );
  try {
    for (let tries = 1, pause = 20; ; tries++, pause = Math.min(pause * 2, longestPause)) {
      const seen = await target.look(action.table);
      // After the look: whoever slept in between must not act on what his successor has made of the table.
      await lease.check();
      const isDone = mayBeDone && sameTable(seen?.table, planned.after);
      if (!isDone) requireBefore(planned, seen);
      // Nothing is awaited from here to the call: who slept until a successor may have come looks again.
      if (!lease.isSure()) continue;
      const failure = isDone ? undefined : await attempt(target, planned, seen);
      // Whatever the answer was, or whether there was one: the table tells what happened.
      const found = await target.look(action.table);
      if (sameTable(found?.table, planned.after)) {
        emit({ event: "done", ...place, text, duration: Math.round(clock.steady() - started) });
        return { before: seen?.version, after: found?.version };
      }
      // Not as it should be: it may be the next holder's doing, if we slept.
      await lease.check();
      if (failure === undefined) throw unexpected(planned, found);
      if (!sameTable(found?.table, planned.before) || tries === mostTries || !target.isConflict(failure)) throw failure;
      emit({ event: "retried", ...place, text, problem: target.explain(failure) });
      await clock.sleep(pause);
    }
  } finally {
    quiet();
  }
}

/** The error of the call, or undefined when it was answered well. */
async function attempt(target: Target, { action }: PlannedAction, seen: Sight | undefined): Promise<unknown> {
  try {
    await target.execute(action, seen);
    return undefined;
  } catch (error) {
    return error ?? new Error("the call failed without a reason");
  }
}

function requireBefore({ place, action, before }: PlannedAction, seen: Sight | undefined): void {
  if (sameTable(seen?.table, before)) return;
  throw new MigrateError("ERR_TABLE_CHANGED", {
    ...place,
    table: action.table,
    differences: differences(before, seen?.table),
  });
}

function unexpected({ place, action, after }: PlannedAction, found: Sight | undefined): MigrateError {
  return new MigrateError("ERR_UNEXPECTED_RESULT", {
    ...place,
    table: action.table,
    differences: differences(after, found?.table),
  });
}
