import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Computation } from "../../../../../src/actions/model/computation.ts";
import {
  computeAll,
  NoAnswer,
  type Compute,
  type RowResult,
} from "../../../../../src/features/embed/compute/compute-all.ts";
import { KnownValues } from "../../../../../src/features/embed/calls/known-values.ts";
import { float32, utf8, vector } from "../../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../../src/schema/typed/shape.ts";

const rows = Array.from({ length: 100 }, (_, id) => ({ id, text: `text ${id}` }));

async function computed(
  compute: Compute,
  options: Partial<Computation> = {},
  type: ColumnType = utf8(),
): Promise<{ results: RowResult[]; appends: number; problem: string | undefined }> {
  const results: RowResult[] = [];
  let appends = 0;
  const computation = { from: ["text"], key: "id", with: "./c.ts", version: "1", batch: 8, ...options };
  const stage = async (some: readonly RowResult[]) => {
    await sleep(2);
    appends++;
    results.push(...some);
  };
  const column = { name: "c", type: type.type, nullable: true };
  try {
    await computeAll(rows, computation, column, { compute, stage, tally: { good: 0, bad: 0, badSources: 0 } });
    return { results, appends, problem: undefined };
  } catch (error) {
    return { results, appends, problem: (error as Error).message };
  }
}

const upper: Compute = async (some) => some.map(({ text }) => String(text).toUpperCase());

test("each row is computed once, with no more calls at a time than allowed", async () => {
  let [now, most, calls] = [0, 0, 0];
  const counted: Compute = async (some) => {
    most = Math.max(most, ++now);
    calls++;
    await sleep(1);
    now--;
    return await upper(some);
  };
  const { results, problem } = await computed(counted, { concurrency: 3 });
  expect(problem).toBeUndefined();
  expect(results.map(({ row }) => row["id"]).toSorted((one, other) => Number(one) - Number(other))).toEqual(
    rows.map(({ id }) => id),
  );
  expect({ most, calls }).toEqual({ most: 3, calls: 13 });
});

test("the code gets the columns of `from` alone", async () => {
  const seen: unknown[] = [];
  await computed(async (some) => {
    seen.push(...some);
    return await upper(some);
  });
  expect(seen[0]).toEqual({ text: "text 0" });
});

test("results that are not stored yet are those of two calls at most for each that may be made at a time", async () => {
  let [made, stored, most] = [0, 0, 0];
  const counted: Compute = async (some) => {
    made += some.length;
    most = Math.max(most, made - stored);
    return await upper(some);
  };
  const computation = { from: ["text"], key: "id", with: "./c.ts", version: "1", batch: 8, concurrency: 2 };
  const stage = async (some: readonly RowResult[]) => {
    await sleep(5);
    stored += some.length;
  };
  const column = { name: "c", type: utf8().type, nullable: true };
  await computeAll(rows, computation, column, { compute: counted, stage, tally: { good: 0, bad: 0, badSources: 0 } });
  expect({ made, stored, most }).toEqual({ made: 100, stored: 100, most: 32 });
});

test("what is computed while results are stored is stored together", async () => {
  const { appends } = await computed(upper, { batch: 1, concurrency: 10 });
  expect(appends).toBeLessThan(50);
});

test.each([
  [1, 4],
  [13, 2],
  [25, 1],
])("results of calls of %i ms are kept after %i calls", async (length, most) => {
  let time = 0;
  const timed: Compute = async (some) => {
    time += length;
    return await upper(some);
  };
  const sizes: number[] = [];
  const computation = { from: ["text"], key: "id", with: "./c.ts", version: "1", batch: 7, concurrency: 1 };
  await computeAll(
    rows.slice(0, 28),
    computation,
    { name: "c", type: utf8().type, nullable: true },
    {
      compute: timed,
      stage: async (results) => void sizes.push(results.length / 7),
      tally: { good: 0, bad: 0, badSources: 0 },
      clock: { steady: () => time },
    },
  );
  expect(sizes.reduce((sum, one) => sum + one, 0)).toBe(4);
  expect(Math.max(...sizes)).toBe(most);
});

const failing: Compute = async (some) => {
  if (some.some(({ text }) => text === "text 77")) throw new Error("the text is too long");
  return await upper(some);
};

test("the row for which the code fails is named, and the rest of what was computed is kept", async () => {
  const { results, problem } = await computed(failing);
  expect(problem).toBe("./c.ts, for the row whose id is 77: the text is too long");
  expect(results.every((result) => "value" in result)).toBe(true);
  // Those of its call that come before it too.
  expect(results.map(({ row }) => row["id"])).toContain(76);
});

test("a row for which the code fails may stay without a value", async () => {
  const { results, problem } = await computed(failing, { failedRows: "leave" });
  expect(problem).toBeUndefined();
  expect(results).toHaveLength(100);
  expect(results.filter((result) => "problem" in result)).toEqual([{ row: rows[77], problem: "the text is too long" }]);
});

test("if no row can be computed, failed rows do not stay without values", async () => {
  let calls = 0;
  const broken: Compute = async () => {
    calls++;
    throw new Error("no such model");
  };
  const { results, problem } = await computed(broken, { failedRows: "leave", concurrency: 1 });
  expect(problem).toBe("./c.ts, for the row whose id is 19: no such model");
  expect(results).toHaveLength(19);
  expect(calls).toBeLessThan(30);
});

test("a call without an answer stops the run, whatever failed rows may do: it says nothing about its rows", async () => {
  let calls = 0;
  const silent: Compute = async (some) => {
    if (++calls > 5) throw new NoAnswer("no answer (8 tries)");
    return await upper(some);
  };
  const { results, problem } = await computed(silent, { failedRows: "leave", concurrency: 1 });
  expect(problem).toBe("./c.ts: no answer (8 tries)");
  expect(results).toHaveLength(40);
  expect(calls).toBe(6);
});

test.each<[what: string, value: unknown, type: ColumnType, problem: string]>([
  ["too few numbers", [1, 2, 3], vector(4), "it returned a vector of 3 numbers for fixedSizeList<float32, 4>"],
  ["NaN", [1, 2, 3, NaN], vector(4), "it returned a vector with NaN"],
  ["a null", [1, 2, 3, null], vector(4), "it returned a vector with null"],
  ["a text in a vector", [1, 2, 3, "4"], vector(4), "it returned a vector with 4"],
  ["too large a number", [1, 2, 3, 1e39], vector(4), "it returned a vector with 1e+39"],
  ["infinity", Float32Array.of(1, 2, 3, Infinity), vector(4), "it returned a vector with Infinity"],
  ["a text for a vector", "1234", vector(4), "it returned a value that is no vector for fixedSizeList<float32, 4>"],
  ["a text for a number", "1", float32(), "the value must be a number in its range, as it is float32"],
  ["undefined", undefined, utf8(), "it returned undefined for a row"],
])("%s is refused", async (_, value, type, problem) => {
  const wrong = await computed(async (some) => some.map(() => value), {}, type);
  expect(wrong.problem).toBe(`./c.ts, for the row whose id is 0: ${problem}`);
});

test.each([
  ["an array", [1, 2, 3, 4]],
  ["a typed array", Float32Array.of(1, 2, 3, 4)],
  ["null", null],
])("%s may be a vector's value", async (_, value) => {
  expect(await computed(async (some) => some.map(() => value), {}, vector(4))).toMatchObject({ problem: undefined });
});

test("another number of values than rows is refused", async () => {
  const { problem } = await computed(async (some) => (await upper(some)).slice(1));
  expect(problem).toContain("it returned 0 values for 1 row");
});

test("the results of rows that are computed alone are kept one by one", async () => {
  const sizes: number[] = [];
  const stage = async (some: readonly RowResult[]) => void sizes.push(some.length);
  let alone = 0;
  const slow: Compute = async (some) => {
    if (some.length > 1) throw new Error("too many rows");
    if (++alone === 5) expect(sizes.length).toBeGreaterThan(2);
    return await upper(some);
  };
  const computation = { from: ["text"], key: "id", with: "./c.ts", version: "1", batch: 8, concurrency: 1 };
  const column = { name: "c", type: utf8().type, nullable: true };
  await computeAll(rows.slice(0, 8), computation, column, {
    compute: slow,
    stage,
    tally: { good: 0, bad: 0, badSources: 0 },
  });
  expect(sizes.reduce((sum, size) => sum + size)).toBe(8);
});

/** Computes the rows of texts, 2 in a call, page by page. */
async function repeatedly(pages: readonly (readonly string[])[], compute: Compute, options: Partial<Computation> = {}) {
  const results: RowResult[] = [];
  const tally = { good: 0, bad: 0, badSources: 0 };
  const known = new KnownValues(["text"]);
  const how = { from: ["text"], key: "id", with: "./c.ts", version: "1", batch: 2, concurrency: 1, ...options };
  const calls: string[][] = [];
  let id = 0;
  for (const texts of pages)
    await computeAll(
      texts.map((text) => ({ id: id++, text })),
      how,
      { name: "c", type: utf8().type, nullable: true },
      {
        tally,
        known,
        stage: async (some) => void results.push(...some),
        compute: async (some) => {
          calls.push(some.map(({ text }) => String(text)));
          return await compute(some);
        },
      },
    );
  const values = new Map(results.map((result) => [result.row["id"], "value" in result ? result.value : "failed"]));
  return { calls, tally, kept: results.length, values: Array.from({ length: id }, (_, at) => values.get(at)) };
}

test("equal rows are computed once, also on later pages, and each gets its value", async () => {
  const pages = [
    ["a", "b", "a", "c", "a"],
    ["c", "d", "a", "d"],
    ["d", "a"],
  ];
  const { calls, tally, kept, values } = await repeatedly(pages, upper);
  expect(calls).toEqual([["a", "b"], ["c"], ["d"]]);
  expect(values).toEqual(["A", "B", "A", "C", "A", "C", "D", "A", "D", "D", "A"]);
  expect(kept).toBe(11);
  expect(tally).toEqual({ good: 11, bad: 0, badSources: 0 });
});

test("rows for which the code fails are computed once on a page, and again on the next one", async () => {
  const failing: Compute = async (some) => {
    if (some.some(({ text }) => text === "bad")) throw new Error("no");
    return await upper(some);
  };
  const pages = [
    ["bad", "a", "bad", "bad"],
    ["bad", "a"],
  ];
  const { calls, tally, values } = await repeatedly(pages, failing, { failedRows: "leave" });
  expect(calls).toEqual([["bad", "a"], ["bad"], ["a"], ["bad"]]);
  expect(values).toEqual(["failed", "A", "failed", "failed", "failed", "A"]);
  expect(tally).toEqual({ good: 2, bad: 4, badSources: 2 });
});

test("many equal rows that fail are one cause, and do not stop the run", async () => {
  const failing: Compute = async ([row]) => {
    if (row!["text"] === "bad") throw new Error("no");
    return await upper([row!]);
  };
  const same = [[...Array.from({ length: 100 }, () => "bad"), "a"]];
  const { tally } = await repeatedly(same, failing, { failedRows: "leave", batch: 1 });
  expect(tally).toEqual({ good: 1, bad: 100, badSources: 1 });
});
