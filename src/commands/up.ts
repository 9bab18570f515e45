/** Applies migrations. */
import { appliedHash } from "../ledger/state/applied-hash.ts";
import { isAtRest, mayDefer } from "../ledger/journal/journal.ts";
import { matchesHash } from "../migrations/checksum.ts";
import { hashDuring } from "../migrations/source.ts";
import type { RunChoice } from "../plan/history/pending.ts";
import { runContext, type MigratorOptions, type RunContext } from "../run/run-context.ts";
import type { Emit, RunEvent } from "../run/events.ts";
import { observed } from "../run/observed.ts";
import type { Deferral } from "../run/deferral-text.ts";
import type { RunOptions } from "./run.ts";
import type { Settled } from "./settle.ts";

export type UpChoice = RunOptions<RunChoice>;

export interface UpResult {
  /** How many migrations were applied. */
  readonly applied: number;
  /** How many migrations are applied now. */
  readonly total: number;
  /** The indexes that wait until their tables hold enough vectors. Absent if there are none. */
  readonly deferred?: readonly Deferral[] | undefined;
  /** Whether deferred indexes were built, or rows computed that applications had left. Absent if not. */
  readonly hasSettled?: boolean | undefined;
}

/**
 * Applies pending migrations. When it throws a MigrateError, the ledger records what was done until then. The planner and
 * the rest of a run are loaded only if something is pending. `ifNothing`: what to do if nothing was.
 */
export function up(options: MigratorOptions, choice: UpChoice = {}, ifNothing?: IfNothing): Promise<UpResult> {
  return observed("up", options, async (given) => {
    const chosen =
      choice.steps === undefined ? choice : await (await import("./limit-steps.ts")).withLast(given, choice);
    return await run(given, chosen, ifNothing);
  });
}

type IfNothing = (context: RunContext) => Promise<void>;

async function run(options: MigratorOptions, choice: UpChoice, ifNothing?: IfNothing): Promise<UpResult> {
  const context = runContext(options);
  const { clock, emit } = context;
  const started = clock.steady();
  const finish = async (applied: number): Promise<void> => {
    if (applied === 0) await ifNothing?.(context);
    emit({ event: "finished", applied, duration: Math.round(clock.steady() - started) });
  };
  const upToDate = await resultIfUpToDate(context, choice);
  if (upToDate !== undefined) {
    await finish(0);
    return upToDate;
  }
  const [{ migrate }, { upRun }] = await Promise.all([import("./run.ts"), import("./up-rules.ts")]);
  const { changed, total } = await migrate(context, upRun, choice);
  const { limit, ...settled } = await settleRest(context, choice, changed > 0);
  await finish(changed);
  // All migrations are applied, but a pipeline runs `up` until all rows are computed.
  if (limit !== undefined) throw limit;
  return { applied: changed, total, ...settled };
}

async function resultIfUpToDate(context: RunContext, { plan, to }: UpChoice): Promise<UpResult | undefined> {
  if (plan !== undefined || to !== undefined) return undefined;
  const { hashes, working } = await hashDuring(context.migrations, () => context.journal.head());
  // Hashed before the answer is there.
  const { value } = appliedHash(hashes);
  const head = await working;
  // The newest record alone shows whether nothing is pending.
  const isUpToDate = head !== undefined && isAtRest(head) && !mayDefer(head) && matchesHash(value, head.applied);
  return isUpToDate ? { applied: 0, total: hashes.length } : undefined;
}

/** What shows, when no migration was pending, that the run has done something. */
export const settlingEvents: ReadonlySet<RunEvent["event"]> = new Set(["indexed", "caughtUp", "phase"]);

/** `limit`: the limit of calls that was reached before all rows were computed that applications had left. */
type SettledRest = Pick<UpResult, "deferred" | "hasSettled"> & Pick<Settled, "limit">;

/** Builds indexes that were deferred, and computes rows that applications have left, if the ledger states any. */
async function settleRest(context: RunContext, choice: UpChoice, hasChanged: boolean): Promise<SettledRest> {
  // A saved plan is executed as it is.
  const head = choice.plan === undefined ? await context.journal.head() : undefined;
  if (head === undefined || !mayDefer(head)) return {};
  let hasSettled = false;
  const emit: Emit = (event) => {
    if (settlingEvents.has(event.event)) hasSettled = true;
    context.emit(event);
  };
  const { left, limit } = await (await import("./settle.ts")).settle({ ...context, emit }, hasChanged);
  return { limit, ...(left.length > 0 && { deferred: left }), ...(hasSettled ? { hasSettled } : {}) };
}
