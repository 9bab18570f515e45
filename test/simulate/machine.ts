/** A machine on which a run goes on. It can be stopped and woken, killed, and its clocks can be wrong. */
import type { Clock } from "../../src/time/clock.ts";
import type { Chance } from "./seeded-random.ts";
import type { Watcher } from "./observer.ts";
import type { World } from "./virtual-time.ts";

/** What happens to a machine, and when: counted in all things that it hears of, or only in those moments of one kind. */
export interface Mishap {
  readonly at: number;
  readonly of: "things" | Moment;
  readonly kind: "kill" | "stop" | "jump" | "interrupt";
  /** How long it stands still, or how far its clock jumps. */
  readonly milliseconds: number;
  /** It wakes before that, in the middle of what its successor does: after that many moments of other machines. */
  readonly moments?: number | undefined;
}

/** Machines that wait for moments of others; called at each. */
export type Sleepers = Set<() => void>;

/** Right before an action is sent, and right after it was done, when nobody knows; the same of what is written to the ledger. */
export type Moment = "actions" | "answers" | "records" | "recorded";

export interface Machine {
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  isAlive(): boolean;
  /** Lets it hear of something: now, when it wakes, or never when it is dead. */
  hear(what: () => void, moment?: Moment): void;
  /** Whatever it was to hear of, nobody is there any more. */
  end(): void;
}

export interface Trouble {
  readonly mishaps: readonly Mishap[];
  /** Whether its steady clock stands still while it does, as some do. */
  readonly clockStops: boolean;
  /** How far its wall clock is off. */
  readonly offset: number;
}

export function aMachine(
  name: string,
  world: World,
  chance: Chance,
  { mishaps, clockStops, offset }: Trouble,
  { tell, count }: Watcher,
  sleepers: Sleepers,
): Machine {
  const controller = new AbortController();
  let state: "awake" | "stopped" | "gone" = "awake";
  let backlog: (() => void)[] = [];
  const heard = { things: 0, actions: 0, answers: 0, records: 0, recorded: 0 };
  let slept = 0;
  let stoppedAt = 0;
  let jumped = offset;

  const meet = ({ kind, milliseconds, moments = Infinity }: Mishap) => {
    count(kind);
    tell(() => `${name}: ${kind}${milliseconds === 0 ? "" : ` ${Math.round(milliseconds)} ms`}`);
    switch (kind) {
      case "kill":
        state = "gone";
        break;
      case "stop":
        state = "stopped";
        stoppedAt = world.now();
        sleep(milliseconds, moments);
        break;
      case "jump":
        jumped += milliseconds;
        break;
      case "interrupt":
        controller.abort();
    }
  };
  const sleep = (milliseconds: number, moments: number) => {
    let left = moments;
    const end = () => {
      if (sleepers.delete(count) && state === "stopped") wake();
    };
    const count = () => {
      if (--left === 0) end();
    };
    sleepers.add(count);
    world.after(milliseconds, end);
  };
  const wake = () => {
    state = "awake";
    if (clockStops) slept += world.now() - stoppedAt;
    tell(() => `${name}: wakes`);
    const waiting = backlog;
    backlog = [];
    // One after another, as a process that wakes finds them.
    for (const what of waiting) world.after(0, () => machine.hear(what));
  };
  const machine: Machine = {
    name,
    signal: controller.signal,
    isAlive: () => state !== "gone",
    hear(what, moment) {
      if (state === "awake") {
        heard.things++;
        if (moment !== undefined) {
          heard[moment]++;
          for (const sleeper of sleepers) sleeper();
        }
        for (const mishap of mishaps)
          if (mishap.at === heard[mishap.of] && (mishap.of === moment || mishap.of === "things")) meet(mishap);
      }
      // As a mishap has left it.
      if (state === "awake") what();
      else if (state === "stopped") backlog.push(what);
    },
    end() {
      state = "gone";
    },
    clock: {
      wall: () => 1_750_000_000_000 + Math.round(world.now() + jumped),
      steady: () => world.now() - slept,
      random: () => chance.next(),
      sleep: (milliseconds, signal) =>
        new Promise((resolve, reject) => {
          const abort = () => reject(signal?.reason as Error);
          if (signal?.aborted === true) return abort();
          signal?.addEventListener("abort", abort, { once: true });
          world.after(milliseconds, () => machine.hear(resolve));
        }),
      every(milliseconds, work) {
        let stopped = false;
        let due = false;
        const again = () =>
          world.after(milliseconds, () => {
            if (stopped || state === "gone") return;
            // However often it was due while the machine stood still, it comes once.
            if (!due)
              machine.hear(() => {
                due = false;
                if (!stopped) work();
              });
            due = state === "stopped";
            again();
          });
        again();
        return () => {
          stopped = true;
        };
      },
    },
  };
  return machine;
}
