/** Describes the holder of the lease as text. */
import type { Clock } from "../../time/clock.ts";
import { count } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/fold.ts";

/** Whether the holder has been silent for longer than its lease, by this clock. */
export function isSilent({ holder, head }: LedgerState, clock: Clock): boolean {
  // The marker that takes an epoch states no time: `at` is 0.
  return holder !== undefined && head !== undefined && head.at !== 0 && clock.wall() - head.at > holder.lease;
}

export function holderWords(state: LedgerState, clock: Clock): string | undefined {
  const { holder, head } = state;
  if (holder === undefined) return undefined;
  const holds = `${holder.by} holds the lease`;
  const takesOver = "the next run that has something to do takes over";
  const whenSilent = `once it is silent for a whole lease, ${takesOver}`;
  // The marker that takes an epoch states no time.
  if (head === undefined || head.at === 0) return `${holds}; ${whenSilent}`;
  const silence = clock.wall() - head.at;
  const heard = `${holds}, last heard of ${ago(silence)} by this clock`;
  return isSilent(state, clock) ? `${heard}: its lease has run out, and ${takesOver}` : `${heard}; ${whenSilent}`;
}

function ago(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  return seconds < 120 ? `${count(seconds, "second")} ago` : `${count(Math.round(seconds / 60), "minute")} ago`;
}
