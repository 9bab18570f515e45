/** Many schedules, one after another, each from its own seed. */
import type { Chance } from "./seeded-random.ts";
import { runSchedule } from "./schedule.ts";
import type { Scenario } from "./scenario.ts";
import { counted, type Counted } from "./observer.ts";

export interface Wanted {
  readonly scenario: (chance: Chance, seed: number) => Scenario;
  /** The first seed; the others follow it. */
  readonly first: number;
  readonly schedules: number;
  /** After so many violations it ends. */
  readonly mostViolations: number;
  readonly signal?: AbortSignal | undefined;
  /** Told now and then how many are done. */
  readonly progress?: ((done: number) => void) | undefined;
}

export interface Violation {
  /** Draws the same schedule again. */
  readonly seed: number;
  readonly problem: string;
}

export interface SimulationResult {
  readonly schedules: number;
  readonly violations: readonly Violation[];
  /** How often what happened. */
  readonly counts: Readonly<Record<Counted, number>>;
}

/** Schedules between two looks at the world outside. */
const together = 50;

export async function simulate({
  scenario,
  first,
  schedules,
  mostViolations,
  signal,
  progress = () => {},
}: Wanted): Promise<SimulationResult> {
  const counts = Object.fromEntries(Object.keys(counted).map((what) => [what, 0])) as Record<Counted, number>;
  const watcher = { tell: () => {}, count: (what: Counted) => void counts[what]++ };
  const violations: Violation[] = [];
  let done = 0;
  // Errors are a part of what is simulated; their places in the source are not, and would cost more than all else.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    while (done < schedules && violations.length < mostViolations && !isAborted(signal)) {
      const seed = first + done++;
      const problem = await runSchedule(seed, scenario, watcher);
      if (problem !== undefined) violations.push({ seed, problem });
      if (done % together !== 0) continue;
      progress(done);
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { schedules: done, violations, counts };
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Two results as one. */
export function added(one: SimulationResult, other: SimulationResult): SimulationResult {
  const sum = (what: Counted) => one.counts[what] + other.counts[what];
  return {
    schedules: one.schedules + other.schedules,
    violations: [...one.violations, ...other.violations],
    counts: Object.fromEntries(Object.keys(counted).map((what) => [what, sum(what as Counted)])) as Record<
      Counted,
      number
    >,
  };
}

/** «12 runs, 3 killed»: what happened at all. */
export function countsText({ counts }: SimulationResult): string {
  return Object.entries(counted)
    .map(([what, words]) => ({ number: counts[what as Counted], words }))
    .filter(({ number }) => number > 0)
    .map(({ number, words }) => `${number.toLocaleString("en")} ${words.replace("(s)", number === 1 ? "" : "s")}`)
    .join(", ");
}
