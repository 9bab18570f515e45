/** A program's function that gets events must not end a run in the middle, whatever it throws. */
import { setTimeout as sleep } from "node:timers/promises";
import { firstLine, isMigrateError, MigrateError } from "../errors/migrate-error.ts";
import type { RunEvent } from "../run/events.ts";
import type { MigratorOptions } from "../run/run-context.ts";

/** Milliseconds. */
const longestWait = 5_000;

/**
 * Does the work with the program's `emit`. If that throws, or rejects a promise that it returns, the work stops at its next
 * safe point, and throws ERR_LISTENER. Waits five seconds at most for such promises.
 */
export async function withGuardedEmit<Result>(
  options: MigratorOptions,
  work: (options: MigratorOptions) => Promise<Result>,
): Promise<Result> {
  const { emit: given, signal } = options;
  if (given === undefined) return await work(options);
  const stopping = new AbortController();
  const signals = signal === undefined ? [stopping.signal] : [signal, stopping.signal];
  const pending = new Set<Promise<void>>();
  const call = async (event: RunEvent) => {
    try {
      // TypeScript takes an async function for one that returns nothing.
      await given(event);
    } catch (cause) {
      stopping.abort(new Error("emit failed", { cause }));
    }
  };
  const emit = (event: RunEvent) => {
    if (stopping.signal.aborted) return;
    const called = call(event).finally(() => pending.delete(called));
    pending.add(called);
  };
  const [ended] = await Promise.allSettled([work({ ...options, emit, signal: AbortSignal.any(signals) })]);
  // A promise that never settles must not keep the result.
  await Promise.race([Promise.all(pending), sleep(longestWait, undefined, { ref: false })]);
  const done = ended.status === "rejected" ? doneUntil(ended.reason) : {};
  if (stopping.signal.aborted && done !== undefined) {
    const { cause } = stopping.signal.reason as Error;
    throw new MigrateError("ERR_LISTENER", { problem: firstLine(cause), ...done }, { cause });
  }
  if (ended.status === "rejected") throw ended.reason;
  return ended.value;
}

/** What was done until the work stopped; undefined if it failed for another reason. */
function doneUntil(error: unknown): { readonly done: string } | undefined {
  return isMigrateError(error, "ERR_INTERRUPTED") ? error.details : undefined;
}
