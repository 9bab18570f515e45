/** Waits for the run that holds the lease, and takes over if it stops renewing it. */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../state/ledger-state.ts";
import type { Journal, LedgerHead } from "../journal/journal.ts";
import { start } from "../state/record.ts";
import type { LeaseTerms } from "./lease.ts";

interface WaitTerms extends LeaseTerms {
  /** The most milliseconds to wait for a holder that is known to be running. */
  readonly patience: number;
  /**
   * The record after which an earlier wait found the ledger silent for a whole lease, if there was one. If its epoch
   * has a newer record, its holder is running.
   */
  readonly after?: LedgerHead | undefined;
  /** Whether this newest record ends the wait. If absent, only the end of the epoch does. */
  readonly until?: ((seen: LedgerHead) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for the holder; there must be one. Returns the record after which none was added for a whole lease, so that the
 * lease may be taken over; undefined if the epoch has ended or `until` accepts a record. Throws ERR_LEASE_HELD when
 * patience runs out. But it waits a whole lease for a holder that may be dead: otherwise the lease of a dead holder
 * would never be taken over.
 */
export async function waitForHolder(
  journal: Journal,
  { head, holder }: LedgerState,
  { duration, clock, patience, after, until, signal }: WaitTerms,
): Promise<LedgerHead | undefined> {
  // Only the steady clock counts: a wall clock that is set forward must shorten neither the lease nor the patience.
  const began = clock.steady();
  let newest: LedgerHead | undefined = head;
  let since = began;
  // The holder counts by its own lease duration, which may be longer than this run's.
  let silence = Math.max(duration, holder?.lease ?? 0);
  let longest = longestPause;
  for (let pause = 25; ; pause = Math.min(pause * 1.5, longest)) {
    // A holder that has added a record during the wait is running.
    const atWork = newest !== head || after?.epoch === head?.epoch;
    if (atWork && clock.steady() - began >= patience) throw new MigrateError("ERR_LEASE_HELD", { by: holder!.by });
    // Many runs that wait for one holder should not ask at the same moments.
    await clock.sleep(pause * (0.75 + clock.random() / 2), signal);
    const asked = clock.steady();
    const isNewest = await journal.isNewest(newest ?? start);
    // If answers take long, many runs are asking, and the holder waits for its answers too. So ask less often.
    longest = Math.max(longestPause, Math.min(20 * (clock.steady() - asked), silence / 3));
    if (isNewest) {
      // The time of the request counts, not that of the answer, which may have been under way for long.
      if (asked - since > silence) return newest;
      continue;
    }
    const seen = await journal.head();
    if (seen === undefined || seen.epoch !== newest?.epoch || seen.event === "released") return undefined;
    if (until?.(seen) === true) return undefined;
    newest = seen;
    since = clock.steady();
    silence = Math.max(silence, seen.lease ?? 0);
  }
}

const longestPause = 500;
