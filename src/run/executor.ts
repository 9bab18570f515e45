/**
 * Carries out planned migrations under a lease, so that a run that is killed anywhere can be gone on with: the ledger
 * and the target together always tell how far it got.
 */
import { count, isMigrateError, MigrateError } from "../errors.ts";
import type { Clock } from "../clock.ts";
import type { Lease } from "../ledger/lease.ts";
import type { LedgerEntry, TableVersions } from "../ledger/record.ts";
import { formatMigration, type MigrationName } from "../migrations/file-name.ts";
import { stepHash } from "../migrations/checksum.ts";
import { factsOf } from "../plan/facts.ts";
import type { PlannedAction, PlannedMigration } from "../plan/plan.ts";
import type { Step } from "../steps/registry.ts";
import type { Target } from "../targets/target.ts";
import { actBlindly } from "./act-blindly.ts";
import { act } from "./act.ts";
import { actInCommits, mayTakeCommits, type Noting } from "./act-in-commits.ts";
import type { Acting, Ending } from "./attempt.ts";
import type { Emit } from "./events.ts";

export interface Execution {
  readonly target: Target;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly signal?: AbortSignal | undefined;
}

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
  const { version, name } = migration;
  const started = clock.steady();
  let tables: TableVersions = {};
  let done = planned.done;
  const facts = (ran: readonly Step[] = migration.steps.slice(0, planned.begun[done - 1] ?? 0)) =>
    factsOf(migration, ran, { step: done, total, attempt, duration: Math.round(clock.steady() - started), tables });

  emit({ event: "started", version, name, done, total });
  for (const [index, action] of planned.actions.entries()) {
    if (signal?.aborted === true) {
      const inDoubt = planned.doubtful && index === 0;
      await lease.release([{ event: "interrupted", ...facts() }], inDoubt ? version : undefined);
      throw new MigrateError("ERR_INTERRUPTED", { done: progressText(applied, done, total, migration) });
    }
    if (action.recordFirst) await lease.record([{ event: "advanced", ...facts(), next: version }]);
    const place = { version, name, action: done + 1, total };
    // Whoever was at this migration and was taken over from may yet have done the action that was in doubt.
    const mayBeDone = planned.doubtful && index === 0;
    let unwritten: unknown;
    const noting: Noting = {
      midway: index === 0 ? planned.midway : undefined,
      note: async (kept, commit) => {
        const { indexes, metadata } = kept;
        const step = stepHash(migration.steps[planned.begun[done]! - 1]!);
        const midway = { step, commit, indexes, metadata };
        try {
          await lease.record([{ event: "advanced", ...facts(), next: version, midway }]);
        } catch (cause) {
          unwritten = cause;
          throw cause;
        }
      },
    };
    const ending = await executeAction(action, mayBeDone, {
      ...noting,
      target,
      lease,
      clock,
      emit,
      place,
      pending: [],
    });
    if ("error" in ending) {
      const { error: cause, inDoubt } = ending;
      // A record that could not be written may be there all the same: nothing may follow it.
      if (isHeld(cause) || cause === unwritten) {
        emit({ event: "left", version, name, applied, done, total });
        throw cause;
      }
      // Drift and a result that nobody expected say themselves what is wrong.
      const error =
        isMigrateError(cause) && !isMigrateError(cause, "ERR_ANSWER")
          ? cause
          : new MigrateError(
              "ERR_STEP_FAILED",
              { ...action.place, problem: target.explain(cause), done, total, applied },
              { cause },
            );
      // A ledger that can't be written either is left held: the next run takes it over and looks.
      const failed = { event: "failed", ...facts(), detail: error.message } as const;
      await lease.release([failed], inDoubt ? version : undefined).catch(() => {});
      throw error;
    }
    const { table } = action.action;
    tables = { ...tables, [table]: [tables[table]?.[0] ?? ending.before ?? null, ending.after ?? null] };
    done++;
  }
  return { event: "applied", ...facts(migration.steps) };
}

/** Errors after which the ledger may not be written: the lease runs out, and the next run finds out how far this one got. */
function isHeld(cause: unknown): boolean {
  return (
    ["ERR_LEASE_LOST", "ERR_ACTED_LATE", "ERR_TARGET_UNREACHABLE", "ERR_CREDENTIALS", "ERR_LEDGER_UNWRITABLE"] as const
  ).some((code) => isMigrateError(cause, code));
}

function progressText(applied: number, done: number, total: number, migration: MigrationName): string {
  const some = `${applied} ${applied === 1 ? "migration was" : "migrations were"} applied`;
  const part =
    done === 0
      ? ""
      : `, ${done} of ${count(total, "action")} of ${formatMigration(migration)} ${done === 1 ? "is" : "are"} done`;
  return `${some}${part}; run migrate up to go on`;
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
    // What comes after could be a table made anew, on which the engine does not know an old call for one.
    const ending = await carryOut(planned, mayBeDone, acting).finally(() => Promise.allSettled(pending));
    if (!("error" in ending)) emit({ event: "done", ...place, text, duration: elapsed() });
    return ending;
  } catch (error) {
    // A look or a question that failed: the action may have run.
    return { error, inDoubt: true };
  } finally {
    quiet();
  }
}
