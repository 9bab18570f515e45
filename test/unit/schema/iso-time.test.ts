import { expect, test } from "vitest";
import { isDate, ticksOf } from "../../../src/schema/iso-time.ts";

test.each([
  ["2026-11-20", true],
  ["0000-01-01", true],
  ["2024-02-29", true],
  ["2026-02-29", false],
  ["2026-02-30", false],
  ["2026-13-01", false],
  ["2026-1-1", false],
  ["2026-11-20T00:00:00Z", false],
  ["", false],
])("%j is a day: %s", (text, is) => {
  expect(isDate(text)).toBe(is);
});

test.each([
  ["1970-01-01T00:00:00Z", "s", 0n],
  ["1969-12-31T23:59:59Z", "s", -1n],
  ["1970-01-01T01:00+01:00", "s", 0n],
  ["2026-11-20T12:34:56.789Z", "ms", 1_795_178_096_789n],
  ["2026-11-20T12:34:56.789Z", "us", 1_795_178_096_789_000n],
  // A float would be off by more than a hundred nanoseconds.
  ["2026-11-20T12:34:56.789Z", "ns", 1_795_178_096_789_000_000n],
  ["9999-12-31T23:59:59.999Z", "us", 253_402_300_799_999_000n],
] as const)("%s in %s is %s", (text, unit, ticks) => {
  expect(ticksOf(text, unit)).toBe(ticks);
});

test.each([
  ["a fraction that the unit can't tell", "1970-01-01T00:00:00.5Z", "s"],
  ["a time before what nanoseconds reach", "1677-01-01T00:00:00Z", "ns"],
  ["a time after what nanoseconds reach", "2263-01-01T00:00:00Z", "ns"],
  ["no zone", "1970-01-01T00:00:00", "s"],
  ["a day", "1970-01-01", "s"],
  ["no such day", "2026-02-30T00:00:00Z", "s"],
  ["no such hour", "2026-02-20T25:00:00Z", "s"],
  ["text", "yesterday", "s"],
] as const)("%s is none", (_, text, unit) => {
  expect(ticksOf(text, unit)).toBeUndefined();
});
