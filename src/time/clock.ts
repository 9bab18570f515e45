/** Time and chance, as a run needs them; a simulator brings its own. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since 1970, for people. */
  wall(): number;
  /** Milliseconds by a clock that never jumps back. */
  steady(): number;
  /** Rejects when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to 1: for pauses of runners that should not ask at the same instants. */
  random(): number;
  /** Runs `work` again and again until the function that it gives is called. Does not keep a process alive. */
  every(milliseconds: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  steady: () => performance.now(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
  random: () => Math.random(),
  every(milliseconds, work) {
    const timer = setInterval(work, milliseconds);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** A point in time, by both clocks: the steady one stands still while a machine is suspended, the other may be set back. */
export interface Moment {
  readonly wall: number;
  readonly steady: number;
}

export function now(clock: Clock): Moment {
  return { wall: clock.wall(), steady: clock.steady() };
}

/** Milliseconds since a moment: by the clock that says more, so that a lease is rather given up than overstayed. */
export function elapsed(clock: Clock, since: Moment): number {
  return Math.max(clock.wall() - since.wall, clock.steady() - since.steady);
}
