/** Durations in seconds in settings and flags, limited to what a timer supports. */
import { z } from "zod";

export const longestSeconds = 86_400;

export function secondsProblem(least: number): string {
  return `must be a number of seconds from ${least} to ${longestSeconds} (a day)`;
}

export function seconds(least: number) {
  const problem = secondsProblem(least);
  return z.number(problem).min(least, problem).max(longestSeconds, problem);
}
