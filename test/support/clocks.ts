/** Clocks for tests in which no time passes by itself. */
import type { Clock } from "../../src/time/clock.ts";

/** Time that passes only while somebody sleeps, or is stopped. Timers never fire. */
export function sleepingClock(): Clock {
  let time = 1_750_000_000_000;
  return {
    wall: () => time,
    steady: () => time,
    sleep: async (milliseconds) => void (time += milliseconds),
    random: () => 0.5,
    every: () => () => {},
  };
}
