/** Clocks for tests in which nobody waits. */
import { setImmediate as turn } from "node:timers/promises";
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

/** Time that passes while somebody sleeps, or when a test lets it pass; timers fire on the way. */
export function handClock() {
  let [wall, steady] = [1_750_000_000_000, 0];
  let timers: { due: number; readonly period: number; readonly work: () => void }[] = [];
  const clock = {
    wall: () => Math.round(wall),
    steady: () => steady,
    async sleep(milliseconds: number, signal?: AbortSignal) {
      signal?.throwIfAborted();
      await clock.pass(milliseconds);
      signal?.throwIfAborted();
    },
    random: () => 0.5,
    every(period: number, work: () => void) {
      const timer = { due: steady + period, period, work };
      timers.push(timer);
      return () => void (timers = timers.filter((other) => other !== timer));
    },
    /** What is due happens on the way, as with a real clock. */
    async pass(milliseconds: number) {
      const until = steady + milliseconds;
      for (;;) {
        const next = timers.filter(({ due }) => due <= until).toSorted((one, other) => one.due - other.due)[0];
        const at = Math.max(steady, next?.due ?? until);
        wall += at - steady;
        steady = at;
        if (next === undefined) break;
        next.due = at + next.period;
        next.work();
        await turn();
      }
      await turn();
    },
    /** As when the machine was suspended: the steady clock stood still. Timers are late by nothing. */
    jumpWall: (milliseconds: number) => void (wall += milliseconds),
    /** As when the process was stopped: both clocks went on and no timer fired. */
    stall(milliseconds: number) {
      wall += milliseconds;
      steady += milliseconds;
    },
    /** Late timers fire once, as Node does it. */
    async wake() {
      for (const timer of timers.filter(({ due }) => due <= steady)) {
        timer.due = steady + timer.period;
        timer.work();
      }
      await turn();
    },
  };
  return clock satisfies Clock;
}

export type HandClock = ReturnType<typeof handClock>;
