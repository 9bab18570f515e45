/** Clocks for tests in which nobody waits. */
import type { Emit } from "../../src/run/events.ts";
import { systemClock, type Clock } from "../../src/time/clock.ts";

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

/** For runs that follow a killed one, beside others that need their time: the steady clock leaps over a lease when a run begins to wait for it. */
export function leapingOverLeases(): { readonly clock: Clock; readonly emit: Emit } {
  let leapt = 0;
  return {
    clock: { ...systemClock, steady: () => systemClock.steady() + leapt },
    // The wait begins in the same turn.
    emit: ({ event }) => event === "waiting" && queueMicrotask(() => (leapt += 60_000)),
  };
}
