/** Retries work that may be repeated, because a second time changes nothing. */
import type { Clock } from "../../time/clock.ts";
import type { CallOutcome } from "./target.ts";

const mostTries = 8;
const longestPause = 2_000;

/** Retries after a conflict, throttling or a missing answer, up to `mostTries` tries in all. A refusal is final. */
export async function retry<Result>(
  work: () => Promise<Result>,
  verdict: (error: unknown) => CallOutcome,
  clock: Pick<Clock, "sleep" | "random">,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const { kind, pause = 0 } = verdict(error);
      if (kind === "refused" || tries === mostTries) throw error;
      await clock.sleep(Math.max(pause, Math.min(25 * 2 ** tries, longestPause) * (0.5 + clock.random())));
    }
  }
}
