/** Durations in seconds in settings and flags, limited to what a timer supports. */

export const longestSeconds = 86_400;

export function secondsProblem(least: number): string {
  return `must be a number of seconds from ${least} to ${longestSeconds} (a day)`;
}
