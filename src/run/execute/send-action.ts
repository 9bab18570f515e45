/** One call to the target, what its error means, and how often it may be tried again. */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { Clock } from "../../time/clock.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import type { Action } from "../../actions/model/action.ts";
import type { SeenVersion } from "../../schema/table-identity.ts";
import type { Tables } from "../../schema/table.ts";
import type { TableSnapshot, Target, CallOutcome } from "../../targets/contract/target.ts";
import { aftermath, type Harm } from "./side-effects.ts";
import type { ActionRef, Emit } from "../events.ts";
import type { SeenTable } from "../check/table-identity.ts";

/** What was seen of some tables, by name; undefined where there is no such table. */
export type Snapshots = ReadonlyMap<string, TableSnapshot | undefined>;

/** What carrying out an action needs. */
export interface Acting {
  readonly target: Target;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly place: ActionRef;
  /** The table that a saved plan was made for. */
  readonly bound?: SeenTable | undefined;
  /** Calls that may still be under way when the action is done; waited for at its end. */
  readonly pending: Promise<Called>[];
  /** How long it is tried while others' commits come first: not for long where there is another way, or on that way. */
  readonly whileOthers?: "detour" | "hurried" | undefined;
  /** Whether indexes are looked at where the action itself has to do with none. */
  readonly withIndexes?: boolean | undefined;
  /** What was looked at just before, nothing awaited since: it need not be looked at again. */
  readonly sights?: Snapshots | undefined;
  /** Whether what others have set since may be lost with a version that is replaced. */
  readonly mayLose?: boolean | undefined;
  /** Whether it may still be sent, by the look right before: what was decided on an earlier one may hold no more. */
  readonly mayAct?: ((found: Tables, version: number | undefined) => boolean) | undefined;
}

/** How an action ended: with the table's versions around it where the target tells them, or with an error. */
export type Ending = Done | FailedCall;

export interface Done {
  readonly before: SeenVersion | undefined;
  readonly after: SeenVersion | undefined;
  /** What was seen of the action's tables last, when it was done. */
  readonly found?: Snapshots;
  /** How many versions its own commits made; one when absent. */
  readonly commits?: number | undefined;
  /** The action's tables as the commit leaves them that may lose values, where that is not the last one. */
  readonly lossy?: Tables;
  /** Metadata of others that was lost with it, in words. */
  readonly harm?: string | undefined;
}

export interface FailedCall {
  readonly error: unknown;
  /** Whether the action may have run, or may yet run, all the same. */
  readonly inDoubt: boolean;
  /** Others' commits came first each time. */
  readonly starved?: boolean;
  /** It was not sent this time, as `mayAct` says. */
  readonly moved?: boolean;
}

export interface Failure extends CallOutcome {
  readonly error: unknown;
}

/** How a call ended: well, where there is no failure. */
export interface Called {
  readonly failure?: Failure | undefined;
  /** The table's version after it, where the target tells it. */
  readonly made?: number | undefined;
  /** Metadata of others that was lost with it, in words. */
  readonly harm?: string | undefined;
}

/** What a single call needs: `place` is what the ledger is told should it come late. */
export type Calling = Pick<Acting, "target" | "lease" | "place" | "mayLose"> & {
  /** The migration that is in doubt should the run end with the call; that of the place when absent, none when null. */
  readonly next?: number | null | undefined;
};

/** Its caller asked `isSure` and awaited nothing since. Throws ERR_TABLE_RECREATED, ERR_ACTED_LATE. */
export async function attempt(action: Action, seen: TableSnapshot | undefined, calling: Calling): Promise<Called> {
  const { target, place } = calling;
  let failure: Failure | undefined;
  let made: number | undefined;
  try {
    made = await target.execute(action, seen);
  } catch (thrown) {
    const error = thrown ?? new Error("the call failed without a reason");
    failure = { ...target.verdict(error), error };
  }
  const checking = failure === undefined ? aftermath(action, seen, made, calling) : undefined;
  const harm = await checking?.catch(() => undefined);
  await recordLateCall(failure, harm, calling);
  await checking; // throws where it could not be checked
  requireNotRecreated(harm, place);
  return { failure, made, harm: harm?.problem };
}

/** After a call without an answer: whether the table is the one that was seen before it. Throws ERR_TABLE_RECREATED. */
export async function requireSame(action: Action, seen: TableSnapshot | undefined, calling: Calling): Promise<void> {
  requireNotRecreated(await aftermath(action, seen, undefined, calling), calling.place);
}

function requireNotRecreated(harm: Harm | undefined, { version, name, action }: ActionRef): void {
  if (harm?.code !== "ERR_TABLE_RECREATED") return;
  throw new MigrateError(harm.code, { version: formatVersion(version), name, action, problem: harm.problem });
}

/**
 * A run that was stopped between its last look at the clock and the call may have acted when another one held the lease. The
 * embedded engine refuses many such calls and accepts others; a service carries them out. So every one is recorded in the
 * ledger, whatever its kind, and the next run looks at its table.
 */
async function recordLateCall(
  failure: Failure | undefined,
  harm: Harm | undefined,
  { target, lease, place, next }: Calling,
): Promise<void> {
  // What an engine in the same process refuses it may have begun.
  const mayHaveBegun = failure?.kind === "unanswered" || (failure?.kind === "refused" && target.capabilities.fences);
  const surelyNothing = failure !== undefined && !mayHaveBegun;
  if (surelyNothing || lease.isSure()) return;
  try {
    await lease.check();
  } catch (cause) {
    // Also where nobody answers whose the lease is.
    const { version, name, action, total } = place;
    const inDoubt = next === null ? undefined : (next ?? version);
    const late = { event: "late", next: inDoubt, version, name, step: action, total } as const;
    // What can't be written is said at least here.
    await lease.recordLate(late).catch(() => {});
    const details = { version: formatVersion(version), name, action, problem: harm?.problem };
    throw new MigrateError("ERR_ACTED_LATE", details, { cause });
  }
}

/**
 * How often an action is tried, and how long it is waited in between: when another writer's commit came first, and when
 * there was no answer, so that what may still be under way gets time to end.
 */
const patiences = {
  conflict: { tries: 30, first: 20, longest: 1_000 },
  detour: { tries: 5, first: 20, longest: 1_000 },
  // Columns are hidden meanwhile.
  hurried: { tries: 12, first: 5, longest: 50 },
  throttled: { tries: 30, first: 20, longest: 1_000 },
  unanswered: { tries: 5, first: 1_000, longest: 8_000 },
  refused: { tries: 0, first: 0, longest: 0 },
};

/** Waits before the next try, longer each time; false when there is to be none. */
export function patience({ text }: PlannedAction, { target, clock, emit, place, whileOthers }: Acting) {
  let tried = 0;
  return async ({ kind, pause = 0, error }: Failure): Promise<boolean> => {
    const { tries, first, longest } = patiences[kind === "conflict" ? (whileOthers ?? kind) : kind];
    if (++tried >= tries) return false;
    emit({ event: "retried", ...place, text, reason: kind, problem: target.explain(error) });
    await clock.sleep(Math.max(pause, Math.min(first * 2 ** (tried - 1), longest)));
    return true;
  };
}
