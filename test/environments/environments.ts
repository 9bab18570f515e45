/** Where the whole suite has to pass besides on the machine of a developer today: on other days, in other places, as other users. */

export interface Environment {
  readonly env?: Readonly<Record<string, string>>;
  /** When the suite starts, if not now. */
  readonly start?: (now: Date) => Date;
  /** The number of a user, who gets a copy of the repository. */
  readonly user?: number;
}

const day = 24 * 60 * 60 * 1_000;
/** Before a midnight: the longest tests begin before it and end after it. */
const little = 4 * 60 * 1_000;
const german = "de_DE.UTF-8";

export const environments: Readonly<Record<string, Environment>> = {
  "two-days-ahead": { start: (now) => new Date(now.getTime() + 2 * day) },
  "400-days-ahead": { start: (now) => new Date(now.getTime() + 400 * day) },
  "leap-day": { start: (now) => nextLeapDay(now.getUTCFullYear() + 1) },
  midnight: { start: (now) => new Date((Math.floor(now.getTime() / day) + 1) * day - little) },
  "new-year": { start: (now) => new Date(Date.UTC(now.getUTCFullYear() + 1, 0, 1) - little) },
  kiritimati: { env: { TZ: "Pacific/Kiritimati" } },
  "st-johns": { env: { TZ: "America/St_Johns" } },
  german: { env: { LANG: german, LANGUAGE: "de", LC_ALL: german } },
  // Not in /etc/passwd, as in a container of a service that gives each application a number of its own.
  "no-passwd": { user: 54_321 },
  // "nobody" on each system.
  "not-root": { user: 65_534 },
};

function nextLeapDay(year: number): Date {
  const date = new Date(Date.UTC(year, 1, 29, 12));
  return date.getUTCDate() === 29 ? date : nextLeapDay(year + 1);
}

/** Several at once. Throws if none is given or there is no such environment, or if two exclude each other. */
export function environmentOf(names: readonly string[]): Environment {
  if (names.length === 0) throw new RangeError(`name environments, of ${Object.keys(environments).join(", ")}`);
  const all = names.map((name) => {
    const found = Object.hasOwn(environments, name) ? environments[name] : undefined;
    if (found === undefined)
      throw new RangeError(`there is no environment ${name}; there are ${Object.keys(environments).join(", ")}`);
    return found;
  });
  const given = all.flatMap(({ env = {}, ...own }) => [...Object.keys(env), ...Object.keys(own)]);
  const twice = given.find((one, index) => given.indexOf(one) < index);
  if (twice !== undefined) throw new RangeError(`${names.join(" and ")} can't hold at once: each has its own ${twice}`);
  return Object.assign({}, ...all, { env: Object.assign({}, ...all.map(({ env }) => env)) }) as Environment;
}

/** The one whose turn it is: after as many days as there are, each has had its turn. */
export function environmentOfNight(now: Date): string {
  const names = Object.keys(environments);
  return names[Math.floor(now.getTime() / day) % names.length]!;
}

/**
 * Variables with which processes see the clock of the environment, and run in its place. `libraries`: those that another
 * clock takes, in the order in which they are loaded.
 */
export function variablesOf(
  { env = {}, start }: Environment,
  now: Date,
  libraries: () => readonly string[],
): Readonly<Record<string, string>> {
  if (start === undefined) return env;
  const seconds = Math.round((start(now).getTime() - now.getTime()) / 1_000);
  return {
    ...env,
    LD_PRELOAD: libraries().join(":"),
    FAKETIME: `+${seconds}`,
    // Timers run as they do.
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKE_UTIME: "1",
  };
}
