/** How often calls are tried again, and the pauses between the tries: one table for all reasons. */
import type { Clock } from "../../time/clock.ts";
import type { CallOutcome } from "./target.ts";

export interface Patience {
  /** How often it is tried in all. */
  readonly tries: number;
  /** Milliseconds before the second try; doubled for each further one. */
  readonly first: number;
  /** The longest pause. */
  readonly longest: number;
}

export const patience = {
  refused: { tries: 0, first: 0, longest: 0 },
  throttled: { tries: 30, first: 20, longest: 1_000 },
  /** Others' commits came first. */
  conflict: { tries: 30, first: 20, longest: 1_000 },
  /** The same for a call that the embedded engine itself has retried for 30 seconds. */
  engine: { tries: 3, first: 100, longest: 1_000 },
  /** The same for a quick change ahead of a migration, which nobody waits for. */
  ahead: { tries: 300, first: 20, longest: 200 },
  /** The same, if there is a detour on which they can't. */
  detour: { tries: 5, first: 20, longest: 1_000 },
  /** The same on that detour: columns are hidden meanwhile. */
  hurried: { tries: 12, first: 5, longest: 50 },
  /** A call without an answer may still be under way, so it is given time to end. */
  unanswered: { tries: 5, first: 1_000, longest: 8_000 },
  /** A call that changes nothing when it is repeated. */
  repeatable: { tries: 8, first: 50, longest: 2_000 },
  /** One request to a service that changes nothing. */
  request: { tries: 4, first: 300, longest: 30_000 },
  /** A call of code of the project that failed for a reason that may pass. */
  code: { tries: 8, first: 500, longest: 60_000 },
  /** A change that the service makes for a client, which does not wait as long as a run. */
  served: { tries: 30, first: 10, longest: 250 },
  /** A list of tables that lacks one which it has shown before. */
  staleList: { tries: 6, first: 50, longest: 1_000 },
} as const satisfies Record<string, Patience>;

/** What others may undo or change each time is tried this often at most. */
export const mostRepeats = 5;

/** The pause in milliseconds after this many tries. */
export function pauseAfter(tried: number, { first, longest }: Patience): number {
  return Math.min(first * 2 ** (tried - 1), longest);
}

/** Retries work unless it was refused: it changes nothing when it is repeated, or `verdict` shows that it did nothing. */
export async function retry<Result>(
  work: () => Promise<Result>,
  verdict: (error: unknown) => CallOutcome,
  clock: Pick<Clock, "sleep" | "random">,
  allowed: Patience = patience.repeatable,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const { kind, pause = 0 } = verdict(error);
      if (kind === "refused" || tries === allowed.tries) throw error;
      // Varied by less than the doubling, so that each pause is longer than the last.
      await clock.sleep(Math.max(pause, pauseAfter(tries, allowed) * (0.75 + clock.random() / 2)));
    }
  }
}
