import { expect, test } from "vitest";
import { decisive, judged, type QueryResult } from "../../../../../src/features/embed/evaluate/judge.ts";
import { evaluationWords, sampleWords } from "../../../../../src/cli/render/recall.ts";

const found = (query: string, fresh: string, old?: string, expected?: string): QueryResult => ({
  query,
  expected: expected?.split(""),
  old: old?.split(""),
  new: fresh.split(""),
});

test("with expected rows, the recall of both models counts, and k is the most that a query can find", () => {
  const evaluated = judged([found("a", "123", "126", "12345"), found("b", "678", "679", "6")], 3);
  expect(evaluated).toMatchObject({ k: 3, queries: 2, recall: { queries: 2, old: (2 / 3 + 1) / 2, new: 1 } });
  expect(decisive(evaluated, true)).toBe(1);
  expect(evaluationWords(evaluated)).toBe(
    "recall@3 1 for 2 queries, 0.833 with the old values; 0.666 of the 3 nearest rows of 2 queries are the same as with the old values",
  );
});

test("without expected rows, the rows that both models find count", () => {
  const evaluated = judged([found("a", "1234", "1256"), found("b", "1", "1")], 4);
  expect(evaluated.recall).toBeUndefined();
  expect(evaluated.overlap).toEqual({ queries: 2, shared: 0.75 });
  expect(decisive(evaluated, true)).toBe(0.75);
});

test("if some queries state what they expect, only these decide", () => {
  const evaluated = judged([found("a", "1", "1"), found("b", "2", undefined, "3")], 1);
  expect(evaluated).toMatchObject({ recall: { queries: 1, new: 0 }, overlap: { queries: 1, shared: 1 } });
  expect(decisive(evaluated, true)).toBe(0);
  // The old recall would be that of other queries.
  expect(evaluated.recall).not.toHaveProperty("old");
  expect(evaluationWords(evaluated)).toBe(
    "recall@1 0 for 1 query; 1 of the 1 nearest rows of 1 query are the same as with the old values",
  );
});

test("the worst queries are shown", () => {
  const queries = [
    found("good", "1", undefined, "1"),
    found("bad", "1", undefined, "2"),
    found("half", "1", undefined, "12"),
  ];
  const { samples } = judged([...queries, found("good too", "1", undefined, "1")], 2);
  expect(samples.map(({ query }) => query)).toEqual(["bad", "half", "good"]);
});

test("a sample is one short line", () => {
  expect(sampleWords(found("a\nb", "1234567", "", "12"))).toBe(
    `"a\\nb": expected 1, 2; old none; new 1, 2, 3, 4, 5, …`,
  );
  expect(sampleWords(found("x".repeat(100), "1"))).toBe(`"${"x".repeat(60)}…": new 1`);
});

test("in a database with none of the expected rows there is nothing to judge", () => {
  expect(decisive(judged([found("a", "", undefined, "1")], 3), false)).toBe(1);
});
