import { expect, test } from "vitest";
import { Budget, type Limits } from "../../../../../src/run/calls/budget.ts";
import { Spending, unknownCost, type PaidCall } from "../../../../../src/features/embed/calls/spending.ts";

function aScene(limits: Limits, pricePer1000Rows?: number) {
  const spending = new Spending(new Budget(limits), { pricePer1000Rows });
  return {
    spending,
    /** Makes a call of 10 rows, if it may be made. Returns why it may not be made. */
    async call(report: () => unknown = () => undefined, error?: unknown) {
      const begun = await spending.begin(10);
      if (!("succeeded" in begun)) return begun.limit ?? begun.problem;
      if (error === undefined) begun.succeeded(report);
      else begun.failed(error);
      return undefined;
    },
  };
}

test("with a price, calls that are under way at the same time are taken from the budget before they begin", async () => {
  const { spending } = aScene({ maxCost: 0.5 }, 20);
  const begun = await Promise.all([1, 2, 3, 4].map(async () => await spending.begin(10)));
  expect(begun.map((one) => "succeeded" in one)).toEqual([true, true, false, false]);
});

test("what the code reports replaces the price, and the dearest row so far is what the next call is expected to cost", async () => {
  const { call } = aScene({ maxCost: 10 }, 1_000);
  expect(await call(() => 2)).toBeUndefined();
  // Another one of 10 would be too much by the price.
  expect(await call(() => 5)).toBeUndefined();
  expect(await call(() => 1)).toBe("a cost of 10 (--max-cost), of which 7 is spent");
});

test("without a price, no call begins until the first one has shown what it costs", async () => {
  const { spending } = aScene({ maxCost: 10 });
  const first = (await spending.begin(10)) as PaidCall;
  let begun = 0;
  const others = [1, 2, 3].map(async () => {
    const one = await spending.begin(10);
    begun++;
    return "limit" in one ? one.limit : undefined;
  });
  await Promise.resolve();
  expect(begun).toBe(0);
  first.succeeded(() => 4);
  expect(await Promise.all(others)).toEqual([undefined, expect.any(String), expect.any(String)]);
});

test("if the first call fails, the next one shows what it costs", async () => {
  const { spending, call } = aScene({ maxCost: 10 });
  const first = (await spending.begin(10)) as PaidCall;
  const next = call(() => 10);
  first.failed(new Error("no"));
  expect(await next).toBeUndefined();
  expect(await call()).toContain("of which 10 is spent");
});

test("a failed call costs what it was expected to, unless the service has refused it", async () => {
  const { call } = aScene({ maxCost: 3 }, 100);
  await call(undefined, { status: 429 });
  await call(undefined, { statusCode: 500 });
  await call(undefined, new Error("late"));
  expect(await call()).toBeUndefined();
  expect(await call()).toBeUndefined();
  expect(await call()).toContain("of which 3 is spent");
});

test("a cost that is not known, or no number, ends the run before the next call", async () => {
  const unknown = aScene({ maxCost: 3 });
  expect(await unknown.call()).toBeUndefined();
  expect(await unknown.call()).toBe(unknownCost);
  for (const [report, text] of [
    [() => "2", "2"],
    [() => -1, "-1"],
    [() => Number.NaN, "NaN"],
    [
      () => {
        throw new Error("no usage");
      },
      "no usage",
    ],
  ] as const) {
    const wrong = aScene({ maxCost: 3 }, 100);
    expect(await wrong.call(report)).toBeUndefined();
    expect(await wrong.call()).toBe(`it reports a cost that is no number from 0: ${text}`);
  }
});

test("without a limit of costs, the code is not asked for them and no call waits", async () => {
  const { spending, call } = aScene({ maxCalls: 3 });
  const [first] = await Promise.all([spending.begin(10), spending.begin(10)]);
  (first as PaidCall).succeeded(() => expect.unreachable());
  expect(await call(() => expect.unreachable())).toBeUndefined();
  expect(await call()).toBe("3 calls (--max-calls)");
});
