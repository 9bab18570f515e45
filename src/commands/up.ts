/** Applies migrations. */
import { appliedHash } from "../ledger/state/applied-hash.ts";
import { isAtRest, mayDefer } from "../ledger/journal/journal.ts";
import { matchesHash } from "../migrations/checksum.ts";
import { hashDuring } from "../migrations/source.ts";
import type { RunChoice } from "../plan/history/pending.ts";
import { runContext, type MigratorOptions, type RunContext } from "../run/run-context.ts";
import { observed } from "../run/telemetry/observed.ts";
import type { Deferral } from "../run/deferral-text.ts";
import type { Wanted } from "./migrate.ts";

export type UpChoice = Wanted<RunChoice>;

export interface UpResult {
  /** How many migrations were applied. */
  readonly applied: number;
  /** How many migrations are applied now. */
  readonly total: number;
  /** The indexes that wait until their tables hold enough vectors. Absent if there are none. */
  readonly deferred?: readonly Deferral[] | undefined;
}

/**
 * Applies pending migrations. When it throws a MigrateError, the ledger records what was done until then. The planner and
 * the rest of a run are loaded only if something is pending. `ifNothing`: what to do if nothing was.
 */
export async function up(options: MigratorOptions, choice: UpChoice = {}, ifNothing?: IfNothing): Promise<UpResult> {
  return await observed("up", options, (given) => run(given, choice, ifNothing));
}

type IfNothing = (context: RunContext) => Promise<void>;

async function run(options: MigratorOptions, choice: UpChoice, ifNothing?: IfNothing): Promise<UpResult> {
  const context = runContext(options);
  const { clock, emit } = context;
  const started = clock.steady();
  const result = (await resultIfUpToDate(context, choice)) ?? (await applyPending(context, choice));
  if (result.applied === 0) await ifNothing?.(context);
  emit({ event: "finished", applied: result.applied, duration: Math.round(clock.steady() - started) });
  return result;
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

async function applyPending(context: RunContext, choice: UpChoice): Promise<UpResult> {
  const [{ migrate }, { upward }] = await Promise.all([import("./migrate.ts"), import("./upward.ts")]);
  const { changed, total } = await migrate(context, upward, choice);
  // A saved plan is executed as it is.
  const head = choice.plan === undefined ? await context.journal.head() : undefined;
  const mayWait = head !== undefined && mayDefer(head);
  const deferred = mayWait ? await (await import("./settle.ts")).settle(context, changed > 0) : [];
  return { applied: changed, total, ...(deferred.length > 0 && { deferred }) };
}
