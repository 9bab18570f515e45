/** Dates and times as rows write them, in ISO 8601. */
import type { TimeUnit } from "./data-type.ts";

/** Whether a text is a date that exists, such as `2026-11-20`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = Date.parse(`${text}T00:00:00Z`);
  // JavaScript reads February 30 as March 2.
  return !Number.isNaN(day) && new Date(day).toISOString().startsWith(text);
}

/**
 * The number of units since 1970 that a timestamp stores for a time with a zone; undefined if the text is no such time,
 * or the unit can't represent it exactly in 64 bits.
 */
export function ticksOf(text: string, unit: TimeUnit): bigint | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text)) return undefined;
  const parsed = Date.parse(text);
  if (Number.isNaN(parsed) || !isDate(text.slice(0, 10))) return undefined;
  const milliseconds = BigInt(parsed);
  if (unit === "s") return milliseconds % 1000n === 0n ? milliseconds / 1000n : undefined;
  const ticks = milliseconds * { ms: 1n, us: 1000n, ns: 1_000_000n }[unit];
  return ticks === BigInt.asIntN(64, ticks) ? ticks : undefined;
}
