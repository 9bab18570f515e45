/**
 * Dates and times as rows write them, in ISO 8601. A year outside of 0 to 9999 has a sign and at least six digits. Not by
 * JavaScript's Date, which knows milliseconds, and no years beyond 275,760.
 */

/** How many of a unit are a second. */
export const perSecond = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n } as const;
const secondsPerDay = 86_400n;

const date = /^(?<year>\d{4}|[+-]\d{6,12})-(?<month>\d{2})-(?<day>\d{2})$/;
const time =
  /^(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d)(:(?<second>[0-5]\d)(\.(?<fraction>\d{1,9}))?)?(Z|(?<sign>[+-])(?<hours>[01]\d|2[0-3]):(?<minutes>[0-5]\d))$/;

/** How many days a date such as `2026-11-20` is after 1970-01-01; undefined if it does not exist. */
export function dayOf(text: string): number | undefined {
  const found = date.exec(text)?.groups;
  if (found === undefined) return undefined;
  const day = daysFrom(Number(found["year"]), Number(found["month"]), Number(found["day"]));
  // February 30 would be March 2, and month 13 January.
  return dateOf(day).slice(-6) === text.slice(-6) ? day : undefined;
}

/** The date that is this many days after 1970-01-01. */
export function dateOf(day: number): string {
  const [y, m, d] = civilFrom(day);
  const digits = y >= 0 && y <= 9999 ? padded(y, 4) : `${y < 0 ? "-" : "+"}${padded(Math.abs(y), 6)}`;
  return `${digits}-${padded(m, 2)}-${padded(d, 2)}`;
}

/**
 * The number of units since 1970 that a timestamp stores for a time with a zone; undefined if the text is no such time,
 * or the unit can't represent it exactly in 64 bits.
 */
export function ticksOf(text: string, unit: keyof typeof perSecond): bigint | undefined {
  const at = text.indexOf("T");
  const day = at === -1 ? undefined : dayOf(text.slice(0, at));
  const found = time.exec(text.slice(at + 1))?.groups;
  if (day === undefined || found === undefined) return undefined;
  const of = (name: string) => Number(found[name] ?? 0);
  const offset = (found["sign"] === "-" ? -1 : 1) * (of("hours") * 60 + of("minutes"));
  const seconds = BigInt(day) * secondsPerDay + BigInt(of("hour") * 3600 + (of("minute") - offset) * 60 + of("second"));
  const nanoseconds = seconds * perSecond.ns + BigInt((found["fraction"] ?? "").padEnd(9, "0"));
  const divisor = perSecond.ns / perSecond[unit];
  const ticks = nanoseconds / divisor;
  return ticks * divisor === nanoseconds && ticks === BigInt.asIntN(64, ticks) ? ticks : undefined;
}

/** The time that is this many units after 1970, in UTC, with as many digits as it needs, and at least those of milliseconds. */
export function timeOf(ticks: bigint, unit: keyof typeof perSecond): string {
  const perDay = secondsPerDay * perSecond[unit];
  const ofDay = ((ticks % perDay) + perDay) % perDay;
  const day = Number((ticks - ofDay) / perDay);
  const second = Number(ofDay / perSecond[unit]);
  const parts = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60].map((part) => padded(part, 2));
  const nanosecond = (ofDay % perSecond[unit]) * (perSecond.ns / perSecond[unit]);
  const fraction = padded(Number(nanosecond), 9).replace(/(000){1,2}$/, "");
  return `${dateOf(day)}T${parts.join(":")}.${fraction}Z`;
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}

// Both count from March 1, so that a leap day is the last day of a year, in eras of 400 years, which have equally many days.
const daysPerEra = 146_097;
const daysBefore1970 = 719_468;

function daysFrom(y: number, month: number, day: number): number {
  const shifted = month <= 2 ? y - 1 : y;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * daysPerEra + dayOfEra - daysBefore1970;
}

function civilFrom(days: number): readonly [year: number, month: number, day: number] {
  const shifted = days + daysBefore1970;
  const era = Math.floor(shifted / daysPerEra);
  const dayOfEra = shifted - era * daysPerEra;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const y = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return [y, month, dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1];
}
