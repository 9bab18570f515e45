/** Sends one call to the target, classifies its error, and limits how often it is retried. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Clock } from "../../time/clock.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import type { Action } from "../../actions/model/action.ts";
import type { SeenVersion } from "../../schema/table-identity.ts";
import type { Tables } from "../../schema/table.ts";
import { patience, pauseAfter } from "../../targets/contract/retry.ts";
import type { CallOutcome, Executed, TableSnapshot, Target } from "../../targets/contract/target.ts";
import { sideEffects, type SideEffect } from "./side-effects.ts";
import type { ActionRef, Emit } from "../events.ts";
import type { Snapshots } from "../check/snapshots.ts";
import type { SeenTable } from "../check/foreign-changes.ts";

/** What executing an action needs. */
export interface ActionContext {
  readonly target: Target;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly place: ActionRef;
  /** The table for which a saved plan was made. */
  readonly bound?: SeenTable | undefined;
  /** Calls that may still be under way when the action is done; waited for at its end. */
  readonly pending: Promise<CallResult>[];
  /**
   * Selects a lower limit for retries while others' commits come first: `detour` if there is a detour, `hurried` on it.
   */
  readonly whileOthers?: "detour" | "hurried" | undefined;
  /** Whether indexes are described; if absent, only if the action restores a table or concerns known indexes. */
  readonly withIndexes?: boolean | undefined;
  /** Snapshots that were just taken, with nothing awaited since; they need not be taken again. */
  readonly snapshots?: Snapshots | undefined;
  /** Whether metadata and indexes that others have set since may be lost with a version that is replaced. */
  readonly mayLose?: boolean | undefined;
  /** Whether the call may still be sent, given the snapshot right before it; an earlier decision may be outdated. */
  readonly mayAct?: ((found: Tables, version: number | undefined) => boolean) | undefined;
}

/** How an action ended: with the table's versions around it, if the target reports them, or with an error. */
export type ActionResult = Done | FailedCall;

export interface Done {
  readonly versionBefore: SeenVersion | undefined;
  readonly versionAfter: SeenVersion | undefined;
  /** The last snapshots of the action's tables, taken when it was done. */
  readonly found?: Snapshots;
  /** How many versions its own commits made; one when absent. */
  readonly commits?: number | undefined;
  /** The action's tables after the commit that may lose values, if that is not the last commit. */
  readonly lossy?: Tables;
  /** Metadata or indexes of others that were lost with it, as text. */
  readonly harm?: string | undefined;
}

export interface FailedCall {
  readonly error: unknown;
  /** Whether the action may have been done anyway, or may still be done. */
  readonly inDoubt: boolean;
  /** The table's versions around what was done of it, if it failed in the middle and that is known. */
  readonly part?: Done | undefined;
  /** How the tables differ from those before the action, in words, if a part of it is done. */
  readonly left?: readonly string[];
  /** Others' commits came first each time. */
  readonly starved?: boolean;
  /** It was not sent this time, because `mayAct` did not allow it. */
  readonly isUnsent?: boolean;
}

export interface Failure extends CallOutcome {
  readonly error: unknown;
}

/** How a call ended; it succeeded if there is no failure. */
export interface CallResult {
  readonly failure?: Failure | undefined;
  /** The table's version after it, if the target reports it. */
  readonly made?: number | undefined;
  /** How many versions it made, if that depends on the rows. */
  readonly commits?: number | undefined;
  /** Metadata of others that was lost with it, as text. */
  readonly harm?: string | undefined;
}

/** What a single call needs. `place` is recorded in the ledger if the call is late. */
export type CallContext = Pick<ActionContext, "target" | "lease" | "place" | "mayLose"> & {
  /** The migration that is in doubt if the run ends with the call; if absent, that of `place`; none if null. */
  readonly next?: number | null | undefined;
};

/** The caller must have checked `isSure` and awaited nothing since. Throws ERR_TABLE_RECREATED, ERR_ACTED_LATE. */
export async function sendAction(
  action: Action,
  seen: TableSnapshot | undefined,
  context: CallContext,
): Promise<CallResult> {
  const { target, place } = context;
  let failure: Failure | undefined;
  let done: Executed = {};
  try {
    done = await target.execute(action, seen);
  } catch (thrown) {
    const error = thrown ?? new Error("the call failed without a reason");
    failure = { ...target.verdict(error), error };
  }
  const { version: made, commits } = done;
  const checking = failure === undefined ? sideEffects(action, seen, made, context) : undefined;
  const harm = await checking?.catch(() => undefined);
  await recordLateCall(failure, harm, context);
  await checking; // throws where it could not be checked
  requireNotRecreated(harm, place);
  return { failure, made, commits: commits ?? failure?.commits, harm: harm?.problem };
}

/** Requires, after a call without an answer, that the table is still the same. Throws ERR_TABLE_RECREATED. */
export async function requireSame(
  action: Action,
  seen: TableSnapshot | undefined,
  context: CallContext,
): Promise<void> {
  requireNotRecreated(await sideEffects(action, seen, undefined, context), context.place);
}

function requireNotRecreated(harm: SideEffect | undefined, { version, name, action }: ActionRef): void {
  if (harm?.code !== "ERR_TABLE_RECREATED") return;
  throw new MigrateError(harm.code, { version: formatVersion(version), name, action, problem: harm.problem });
}

/**
 * A process that was suspended between its last check of the clock and the call may have acted while another run held
 * the lease. The embedded engine refuses many such calls and accepts others; a service executes them. So every such
 * call that may have taken effect is recorded in the ledger, whatever its kind, and the next run checks its table.
 */
async function recordLateCall(
  failure: Failure | undefined,
  harm: SideEffect | undefined,
  { target, lease, place, next }: CallContext,
): Promise<void> {
  // The embedded engine may have begun a call that it refuses.
  const mayHaveBegun = failure?.kind === "unanswered" || (failure?.kind === "refused" && target.capabilities.fences);
  const surelyNothing = failure !== undefined && !mayHaveBegun;
  if (surelyNothing || lease.isSure()) return;
  try {
    await lease.check();
  } catch (cause) {
    // Also if the check gets no answer.
    const { version, name, action, total } = place;
    const inDoubt = next === null ? undefined : (next ?? version);
    const late = { event: "late", next: inDoubt, version, name, step: action, total } as const;
    // If the record can't be written, at least the error states it.
    await lease.recordLate(late).catch(() => {});
    const silence = isMigrateError(cause, "ERR_TARGET_UNREACHABLE") ? cause.message : undefined;
    const details = { version: formatVersion(version), name, action, problem: harm?.problem ?? silence };
    throw new MigrateError("ERR_ACTED_LATE", details, { cause });
  }
}

/** Waits before the next try, longer each time; false if there is no next try. */
export function nextTry({ text }: PlannedAction, { target, clock, emit, place, whileOthers }: ActionContext) {
  let tried = 0;
  return async ({ kind, pause = 0, error }: Failure): Promise<boolean> => {
    const allowed = patience[kind === "conflict" ? (whileOthers ?? kind) : kind];
    if (++tried >= allowed.tries) return false;
    emit({ event: "retried", ...place, text, reason: kind, problem: target.explain(error) });
    await clock.sleep(Math.max(pause, pauseAfter(tried, allowed)));
    return true;
  };
}
