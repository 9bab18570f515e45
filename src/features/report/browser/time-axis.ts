/** Where runs are on the time line, and which times are labelled. Pure. */

export interface Axis {
  readonly from: number;
  readonly until: number;
}

export interface Tick {
  /** From 0 to 1. */
  readonly at: number;
  readonly text: string;
}

const minute = 60_000;
const day = 24 * 60 * minute;
/** Steps of even length, and then of months. */
const even = [1, 5, 15, 60, 6 * 60, 24 * 60, 7 * 24 * 60].map((minutes) => minutes * minute);
const months = [1, 3, 6, 12, 24, 60, 120];
const mostTicks = 8;

/** With room at both ends. `times`: one at least. */
export function axisOf(times: readonly number[]): Axis {
  const [first, last] = [
    times.reduce((one, other) => Math.min(one, other)),
    times.reduce((one, other) => Math.max(one, other)),
  ];
  const room = Math.max((last - first) * 0.02, minute);
  return { from: first - room, until: last + room };
}

export function shareOf(time: number, { from, until }: Axis): number {
  return (time - from) / (until - from);
}

export function ticksOf(axis: Axis): readonly Tick[] {
  const step = even.find((length) => (axis.until - axis.from) / length <= mostTicks);
  const times = step === undefined ? monthsIn(axis) : multiplesIn(axis, step);
  return times.map((time) => ({ at: shareOf(time, axis), text: labelOf(time, step) }));
}

function multiplesIn({ from, until }: Axis, step: number): readonly number[] {
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(until / step) - first + 1 }, (_, index) => (first + index) * step);
}

function monthsIn({ from, until }: Axis): readonly number[] {
  const start = new Date(from).getUTCFullYear();
  const years = new Date(until).getUTCFullYear() - start + 1;
  const all = Array.from({ length: years * 12 }, (_, month) => Date.UTC(start, month));
  const step = months.find((length) => (until - from) / (length * 30 * day) <= mostTicks) ?? months.at(-1)!;
  return all.filter((time, month) => month % step === 0 && time >= from && time <= until);
}

function labelOf(time: number, step: number | undefined): string {
  const iso = new Date(time).toISOString();
  if (step === undefined) return iso.slice(0, 7);
  return step < day ? iso.slice(11, 16) : iso.slice(0, 10);
}

/** For each point, in the order given, the lowest level on which it keeps its distance from those before it. */
export function levelsOf(points: readonly number[], distance: number, most: number): readonly number[] {
  const last: number[] = [];
  return points.map((point) => {
    const free = last.findIndex((other) => point - other >= distance);
    const level = Math.min(free === -1 ? last.length : free, most - 1);
    last[level] = point;
    return level;
  });
}
