/** Time and randomness for a run; a simulator provides its own. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since 1970, by a clock that may be set forward or back. */
  wall(): number;
  /** Milliseconds of a clock that never jumps back. */
  steady(): number;
  /** Rejects when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to 1. Varies pauses, so that runners do not ask at the same instants. */
  random(): number;
  /** Runs `work` repeatedly until the returned function is called. Does not keep the process alive. */
  every(milliseconds: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  // `performance` would load modules of Node that nothing else needs.
  steady: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
  random: () => Math.random(),
  every(milliseconds, work) {
    const timer = setInterval(work, milliseconds);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** A point in time by both clocks: suspending a machine stops the steady one, and the wall clock may be set back. */
export interface Moment {
  readonly wall: number;
  readonly steady: number;
}

export function now(clock: Clock): Moment {
  return { wall: clock.wall(), steady: clock.steady() };
}

/**
 * Milliseconds since a moment, by the clock that shows more: giving a lease up early is safe, holding it too long is
 * not.
 */
export function elapsed(clock: Clock, since: Moment): number {
  return Math.max(clock.wall() - since.wall, clock.steady() - since.steady);
}
