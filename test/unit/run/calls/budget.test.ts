import { expect, test } from "vitest";
import { Budget } from "../../../../src/run/calls/budget.ts";

test("no more calls begin than the limit", () => {
  const budget = new Budget({ maxCalls: 2 });
  expect([1, 2, 3].map(() => budget.take(undefined))).toEqual([undefined, undefined, "2 calls (--max-calls)"]);
});

test("a call that would exceed the cost does not begin, and a cheaper one may", () => {
  const budget = new Budget({ maxCost: 1 });
  expect(budget.take(0.75)).toBeUndefined();
  expect(budget.take(0.5)).toBe("a cost of 1 (--max-cost), of which 0.75 is spent");
  expect(budget.take(0.25)).toBeUndefined();
  expect(budget.take(undefined)).toBe("a cost of 1 (--max-cost), of which 1 is spent");
});

test("what a call has cost counts in place of what was expected", () => {
  const budget = new Budget({ maxCost: 10 });
  expect(budget.take(10)).toBeUndefined();
  budget.correct(10, 4);
  expect(budget.take(6)).toBeUndefined();
  expect(budget.take(1)).toContain("of which 10 is spent");
});

test("fractions whose sum is rounded up do not exceed the limit that they make up", () => {
  const budget = new Budget({ maxCost: 0.3 });
  expect([0.1, 0.1, 0.1, 0.1].map((cost) => budget.take(cost) === undefined)).toEqual([true, true, true, false]);
});
