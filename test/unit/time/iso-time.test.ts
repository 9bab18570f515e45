import * as fc from "fast-check";
import { expect, test } from "vitest";
import { dateOf, dayOf, ticksOf, timeOf } from "../../../src/time/iso-time.ts";

test.each([
  ["1970-01-01", 0],
  ["2026-11-20", 20_777],
  ["0000-01-01", -719_528],
  ["2024-02-29", 19_782],
  ["-000001-12-31", -719_529],
  ["+010000-01-01", 2_932_897],
  // The first and the last day of date32.
  ["-5877641-06-23", -(2 ** 31)],
  ["+5881580-07-11", 2 ** 31 - 1],
] as const)("%s is day %d", (text, day) => {
  expect(dayOf(text)).toBe(day);
  expect(dateOf(day)).toBe(text);
});

test.each([
  "2026-02-29",
  "2026-02-30",
  "2026-13-01",
  "2026-00-01",
  "2026-1-1",
  "10000-01-01",
  "2026-11-20T00:00:00Z",
  "",
])("%j is no date", (text) => {
  expect(dayOf(text)).toBeUndefined();
});

test("dates and times are those of JavaScript, as far as it knows them", () => {
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (milliseconds) => {
      const text = new Date(milliseconds).toISOString();
      expect(timeOf(BigInt(milliseconds), "ms")).toBe(text);
      expect(ticksOf(text, "ms")).toBe(BigInt(milliseconds));
      expect(dateOf(Math.floor(milliseconds / 86_400_000))).toBe(text.slice(0, text.indexOf("T")));
    }),
  );
});

test.each(["s", "ms", "us", "ns"] as const)("every number of %s has a text of its own", (unit) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (ticks) => {
      expect(ticksOf(timeOf(ticks, unit), unit)).toBe(ticks);
    }),
  );
});

test.each([
  [1n, "s", "1970-01-01T00:00:01.000Z"],
  [-1n, "us", "1969-12-31T23:59:59.999999Z"],
  [1_000n, "ns", "1970-01-01T00:00:00.000001Z"],
  [-(2n ** 63n), "ns", "1677-09-21T00:12:43.145224192Z"],
] as const)("%d %s are %s", (ticks, unit, text) => {
  expect(timeOf(ticks, unit)).toBe(text);
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
  ["2026-11-20T12:34:56.123456789Z", "ns", 1_795_178_096_123_456_789n],
  ["+010000-01-01T00:00:00Z", "s", 253_402_300_800n],
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
