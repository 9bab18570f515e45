import { expect, test } from "vitest";
import { rateOf } from "../../../../../src/features/embed/compute/sample-code.ts";

/** Calls that end at these times. */
const calls = (...at: readonly number[]) => at.map((one) => ({ rows: 10, at: one }));

test("the rate leaves out the time until the first calls have ended, in which the code may load a model", () => {
  expect(rateOf(calls(1_000, 1_000, 1_100, 1_100), 0, 2)).toEqual({ rowsPerSecond: 200, isSteady: true });
  expect(rateOf(calls(1_000, 100, 200, 1_100, 1_200), 0, 2)).toEqual({ rowsPerSecond: 100, isSteady: true });
});

test("if too few calls end after these, the rate is that of all calls", () => {
  expect(rateOf(calls(100, 500, 500), 0, 2)).toEqual({ rowsPerSecond: 60, isSteady: false });
  expect(rateOf(calls(1_000, 100, 200, 300), 0, 2)).toEqual({ rowsPerSecond: 40, isSteady: false });
});

test("calls that fail take time and compute no rows", () => {
  const failed = { rows: 0, at: 1_500 };
  expect(rateOf([...calls(1_000), failed, ...calls(1_750, 2_000)], 0, 2)).toEqual({
    rowsPerSecond: 40,
    isSteady: true,
  });
});

test("without a row, or without time, there is no rate", () => {
  expect(rateOf([], 0, 2)).toEqual({ rowsPerSecond: undefined, isSteady: false });
  expect(rateOf([{ rows: 0, at: 5 }], 0, 1).rowsPerSecond).toBeUndefined();
  expect(rateOf(calls(5), 5, 1).rowsPerSecond).toBeUndefined();
});
