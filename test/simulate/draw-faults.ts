/** How bad it gets in one schedule: drawn anew for each, from nothing at all to everything at once. */
import { chanceFor, type Chance } from "./seeded-random.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { swapsNames } from "../../src/plan/compile/undescribed.ts";
import type { Model } from "./target/carry.ts";
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

/**
 * Most troubles are absent from most schedules: a few at a time are found in more places than all of them. An engine in the
 * same process tries nothing again that was lost or failed, so that in half of its schedules nothing is and runs get far. In a
 * few schedules, actions only take long.
 */
export function drawWeather(chance: Chance, seed: number, model: Model): Weather {
  const some = () => chance.pick([0, 0, 0, 0.02, 0.1, 0.3]);
  const isFair = model === "embedded" && chanceFor("fair weather", seed).happens(0.5);
  const drawn = {
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
  // Then only a run that does not renew its lease loses it.
  if (chanceFor("work takes long", seed).happens(0.03)) return { ...calm, long: 0.5 };
  return isFair ? { ...drawn, lost: 0, answerLost: 0, failing: 0 } : drawn;
}

/** What is rare otherwise: the same befalls every machine. */
export type Fate = "oversleep" | "crash loop";

export function drawFate(chance: Chance, isBack: boolean): Fate | undefined {
  const fate = chance.below(10);
  // A rollback has more moments at which being killed matters.
  const crashes = isBack ? 4 : 2;
  if (fate === 0) return "oversleep";
  return fate <= crashes ? "crash loop" : undefined;
}

/** For how long a call is still under way when its connection is cut; undefined if it is not cut. */
export type Cut = (action: Action) => number | undefined;

/**
 * Only swaps of names are cut while they are under way. A run sends every other call again, and could not tell that the first
 * one comes after its repetition. It draws from numbers of its own.
 */
export function drawCuts(seed: number, model: Model, lease: number): Cut {
  const chance = chanceFor("cuts", seed);
  const rate = model === "namespace" ? chance.pick([0, 0.1, 0.3]) : 0;
  return (action) => (swapsNames(action) && chance.happens(rate) ? chance.between(0, lease / 2) : undefined);
}

/**
 * In some schedules, machines are stopped right before they write to the ledger, or right after. It draws from numbers of its
 * own, so that the other schedules go as they would without it. Called once for each machine.
 */
export function drawStopsAtRecords(seed: number, lease: number, isBack: boolean): () => readonly Mishap[] {
  const chance = chanceFor("stops at records", seed);
  // A rollback releases versions once it has recorded an end.
  if (!chance.happens(isBack ? 0.3 : 0.1)) return () => [];
  const stop = (): Mishap => ({
    at: 1 + chance.below(chance.pick([3, 8])),
    of: chance.pick(["records", "recorded"]),
    kind: "stop",
    milliseconds: lease * chance.between(1, 4),
    moments: chance.happens(0.7) ? 1 + chance.below(isBack ? 5 : 10) : undefined,
  });
  return () => (chance.happens(0.7) ? [stop()] : []);
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
      return [
        { at: isBack ? 1 + chance.below(8) : chance.pick([1, 1, 2, 3]), of: "answers", kind: "kill", milliseconds: 0 },
      ];
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
