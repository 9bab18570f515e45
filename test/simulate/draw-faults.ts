/** How bad it gets in one schedule: drawn anew for each, from nothing at all to everything at once. */
import type { Chance } from "./seeded-random.ts";
import type { Mishap, Trouble } from "./machine.ts";
import type { Weather } from "./network.ts";

export const calm: Weather = {
  lost: 0,
  answerLost: 0,
  throttled: 0,
  conflict: 0,
  crowded: 0,
  failing: 0,
  slow: 0,
  long: 0,
};

/** Most troubles are absent from most schedules: a few at a time are found in more places than all of them. */
export function drawWeather(chance: Chance): Weather {
  const some = () => chance.pick([0, 0, 0, 0.02, 0.1, 0.3]);
  return {
    lost: some(),
    answerLost: some(),
    throttled: some(),
    conflict: some(),
    crowded: chance.pick([0, 0, 0, 0.9]),
    // Mostly, now and then: only then may all tries at one record have acted, and none said so.
    failing: chance.pick([0, 0, 0, 0.02, 0.1, 0.3, 0.7]),
    slow: some(),
    long: some(),
  };
}

/** What is rare otherwise: the same befalls every machine. */
export type Fate = "oversleep" | "crash loop";

export function drawFate(chance: Chance, isBack: boolean): Fate | undefined {
  const fate = chance.below(10);
  // A rollback has more moments at which being killed matters.
  const crashes = isBack ? 4 : 1;
  if (fate === 0) return "oversleep";
  return fate <= crashes ? "crash loop" : undefined;
}

/** What happens to one machine. */
export function drawTrouble(chance: Chance, lease: number, fate: Fate | undefined, isBack: boolean): Trouble {
  const clockStops = chance.happens(0.3);
  // Set back while the other one stands still, it leaves nothing to notice a sleep by: then nobody can.
  const directions = clockStops ? [1] : [-1, 1];
  return {
    mishaps: drawMishaps(chance, lease, fate, isBack, directions),
    clockStops,
    offset: chance.pick([0, 0, 3_600_000, -3_600_000]),
  };
}

function drawMishaps(
  chance: Chance,
  lease: number,
  fate: Fate | undefined,
  isBack: boolean,
  directions: readonly number[],
): readonly Mishap[] {
  switch (fate) {
    // Stopped right before a call, it wakes when the lease is another's; killed then, it can't report that it acted late.
    case "oversleep": {
      const at = 1 + chance.below(5);
      const stop = { at, of: "actions", kind: "stop", milliseconds: lease * chance.between(1, 4) } as const;
      const kill = { at, of: "answers", kind: "kill", milliseconds: 0 } as const;
      return chance.happens(0.4) ? [stop, kill] : [stop];
    }
    // Killed, one after the other, before what each has done could be recorded. A rollback also releases versions at its end.
    case "crash loop":
      return [{ at: 1 + chance.below(isBack ? 8 : 3), of: "answers", kind: "kill", milliseconds: 0 }];
    default:
      return Array.from({ length: chance.pick([0, 0, 1, 1, 1, 2, 3]) }, () => drawMishap(chance, lease, directions));
  }
}

function drawMishap(chance: Chance, lease: number, directions: readonly number[]): Mishap {
  const of = chance.pick(["things", "things", "actions"] as const);
  const at = 1 + chance.below(of === "actions" ? 8 : chance.pick([20, 60, 200]));
  const kind = chance.pick(["kill", "kill", "kill", "stop", "stop", "stop", "jump", "jump", "interrupt"] as const);
  switch (kind) {
    case "stop":
      return {
        at,
        of,
        kind,
        milliseconds: lease * chance.pick([chance.between(0, 1), chance.between(1, 1.5), chance.between(1, 5)]),
      };
    case "jump":
      return { at, of, kind, milliseconds: chance.pick(directions) * chance.pick([lease, 3_600_000]) };
    default:
      return { at, of, kind, milliseconds: 0 };
  }
}
