import * as fc from "fast-check";
import { expect, test } from "vitest";
import { float16Bits, float16Of } from "../../../src/schema/float16.ts";

test("every number of 16 bits is the nearest to itself", () => {
  const all = Array.from({ length: 2 ** 16 }, (_, bits) => bits).filter((bits) => !Number.isNaN(float16Of(bits)));
  expect(all.filter((bits) => float16Bits(float16Of(bits)) !== bits)).toEqual([]);
  expect(float16Of(float16Bits(Number.NaN))).toBeNaN();
});

test.each([
  [0.49999, 0.5],
  [2047.5, 2048],
  [2.9e-8, 0],
  [3e-8, 2 ** -24],
  [2 ** -25, 0],
  [-(2 ** -25), -0],
  [65_519.99, 65_504],
  [65_520, Infinity],
  [1 + 2 ** -11, 1],
  [1 + 3 * 2 ** -11, 1 + 2 ** -9],
  [1 + 2 ** -11 + 2 ** -40, 1 + 2 ** -10],
  [-1e300, -Infinity],
])("%d is rounded to %d", (value, nearest) => {
  expect(float16Of(float16Bits(value))).toBe(nearest);
});

test("no number of 16 bits is nearer", () => {
  fc.assert(
    fc.property(fc.double({ min: -65_519, max: 65_519, noNaN: true }), (value) => {
      const bits = float16Bits(value);
      const distance = Math.abs(float16Of(bits) - value);
      for (const other of [bits - 1, bits + 1].filter((one) => (one & 0x7fff) < 0x7c00))
        expect(Math.abs(float16Of(other) - value)).toBeGreaterThanOrEqual(distance);
    }),
  );
});
