/**
 * Carries out planned migrations under a lease, so that a run that is killed anywhere can be gone on with: the ledger
 * and the target together always tell how far it got.
 */
import { count, isMigrateError, MigrateError } from "../errors.ts";
import type { Clock } from "../clock.ts";
import type { Lease } from "../ledger/lease.ts";
import type { LedgerEntry } from "../ledger/record.ts";
import { formatMigration } from "../migrations/file-name.ts";
import { stepHash } from "../migrations/checksum.ts";
import { factsOf } from "../plan/facts.ts";
import type { PlannedAction, PlannedMigration } from "../plan/plan.ts";
import { vectorsHint } from "../plan/vectors.ts";
import type { Target } from "../targets/target.ts";
import { actBlindly } from "./act-blindly.ts";
import { act } from "./act.ts";
import { actInCommits, mayTakeCommits, type Noting } from "./act-in-commits.ts";
import type { Acting, Ending, Undone } from "./attempt.ts";
import type { Emit } from "./events.ts";
import { letGo, restorePoints, trackVersions } from "./table-versions.ts";

export interface Execution {
  readonly target: Target;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly signal?: AbortSignal | undefined;
}

/** What a course says in the ledger: on its way, and at its end. */
const events = {
  up: { onTheWay: "advanced", end: "applied" },
  down: { onTheWay: "reverting", end: "reverted" },
} as const;

/** Carries out the migrations, gives how many, and releases the lease with the last record. */
export async function execute(migrations: readonly PlannedMigration[], execution: Execution): Promise<number> {
  const { lease } = execution;
  for (const [index, planned] of migrations.entries()) {
    const following = migrations[index + 1];
    const ended = await executeMigration(planned, index, execution);
    // While the lease is ours: a next run may keep another version under the same name.
    if (planned.direction === "down") await letGo(planned, execution.target);
    if (following === undefined) await lease.release([ended]);
    // What is to be taken back next is in doubt once it is recorded that it is being taken back.
    else await lease.record([following.direction === "up" ? { ...ended, next: following.migration.version } : ended]);
    const { version, name } = planned.migration;
    execution.emit({ event: events[planned.direction].end, version, name, duration: ended.duration ?? 0 });
  }
  return migrations.length;
}

/** The record that says the migration has come to its end. What stops it is recorded here, with how far it got. */
async function executeMigration(
  planned: PlannedMigration,
  applied: number,
  execution: Execution,
): Promise<LedgerEntry> {
  const { target, lease, clock, emit, signal } = execution;
  const { migration, direction, units, total, attempt } = planned;
  const { onTheWay, end } = events[direction];
  const { version, name } = migration;
  const started = clock.steady();
  let done = planned.done;
  const versions = trackVersions(planned);
  const facts = (ran: readonly unknown[] = units.slice(0, planned.begun[done - 1] ?? 0)) =>
    factsOf(migration, ran, {
      step: done,
      total,
      attempt,
      duration: Math.round(clock.steady() - started),
      tables: versions.tables(),
    });

  /** What the run ends with; it is recorded where it may be. */
  const failed = async (action: PlannedAction, { error: cause, inDoubt }: Undone, unwritten?: unknown) => {
    // A record that could not be written may be there all the same: nothing may follow it.
    if (isHeld(cause) || (cause !== undefined && cause === unwritten)) {
      emit({ event: "left", version, name, direction, applied, done, total });
      return cause;
    }
    // Drift and a result that nobody expected say themselves what is wrong.
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
    // A ledger that can't be written either is left held: the next run takes it over and looks.
    const record = { event: "failed", ...facts(), detail: error.message } as const;
    await lease.release([record], inDoubt ? version : undefined).catch(() => {});
    return error;
  };

  emit({ event: "started", version, name, direction, done, total });
  if (direction === "down") await lease.record([{ event: onTheWay, ...facts(), next: version }]);
  const points = await restorePoints(planned, target, lease, emit).catch(async (cause: unknown) => {
    throw await failed(planned.actions[0]!, { error: cause, inDoubt: planned.doubtful });
  });
  if (points !== undefined) {
    versions.begin(points);
    // Before anything is changed: whoever goes on from there has to know them.
    await lease.record([{ event: onTheWay, ...facts(), next: version }]);
  }
  for (const [index, action] of planned.actions.entries()) {
    if (signal?.aborted === true) {
      const inDoubt = planned.doubtful && index === 0;
      await lease.release([{ event: "interrupted", ...facts() }], inDoubt ? version : undefined);
      throw new MigrateError("ERR_INTERRUPTED", { done: progressText(applied, done, planned) });
    }
    if (action.recordFirst) await lease.record([{ event: onTheWay, ...facts(), next: version }]);
    const place = { version, name, action: done + 1, total };
    // Whoever was at this migration and was taken over from may yet have done the action that was in doubt.
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
    const ending = await executeAction(action, mayBeDone, {
      ...noting,
      target,
      lease,
      clock,
      emit,
      place,
      pending: [],
    });
    if ("error" in ending) throw await failed(action, ending, unwritten);
    versions.note(action, ending);
    done++;
  }
  return { event: end, ...facts(units) };
}

/** Errors after which the ledger may not be written: the lease runs out, and the next run finds out how far this one got. */
function isHeld(cause: unknown): boolean {
  return (
    ["ERR_LEASE_LOST", "ERR_ACTED_LATE", "ERR_TARGET_UNREACHABLE", "ERR_CREDENTIALS", "ERR_LEDGER_UNWRITABLE"] as const
  ).some((code) => isMigrateError(cause, code));
}

function progressText(ended: number, done: number, { direction, total, migration }: PlannedMigration): string {
  const are = (number: number) => (number === 1 ? "is" : "are");
  const [what, of] = direction === "up" ? ["applied", "of"] : ["taken back", "that take back"];
  const some = `${ended} ${ended === 1 ? "migration was" : "migrations were"} ${what}`;
  const part =
    done === 0 ? "" : `, ${done} of ${count(total, "action")} ${of} ${formatMigration(migration)} ${are(done)} done`;
  return `${some}${part}; run migrate ${direction} to go on`;
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
