/** What the comparison of drawn queries permits: the order of rows that the embedded engine scores alike, and no other. */
import { expect, test } from "vitest";
import { judge } from "./judge.ts";
import type { Ask, Found, Query } from "./query.ts";

type Row = readonly [id: string, score: string, relevance: string];

const hybrid: Query = {
  table: "books",
  what: "rows",
  limit: 5,
  nearest: { vectors: [[1]] },
  text: "momo",
  rerank: true,
  isAsync: false,
};

/** The engine scales the scores of both searches, so that rows of one may look like rows of the other. */
const embedded: readonly Row[] = [
  ["near", "0", "0.0167"],
  ["best", "1", "0.0167"],
  ["one", "0.8", "0.0164"],
  ["other", "0.8", "0.0161"],
  ["last", "0", "0.0159"],
];

const found = (measure: string, rows: readonly (readonly string[])[]): Found => ({
  columns: [
    ["id", "Utf8"],
    [measure, "Float32"],
    ["_relevance_score", "Float32"],
  ],
  rows,
});

/** Always the same: what only chance decides is not found by asking again. */
const ask: Ask = async ({ text, nearest }) => {
  if (text === undefined) return found("_distance", [["near", "0.1", ""]]);
  if (nearest !== undefined) return found("_score", embedded);
  return found("_score", [
    ["best", "1.9", ""],
    ["one", "1.5", ""],
    ["other", "1.5", ""],
    ["last", "1.1", ""],
  ]);
};

/** The ids in another order; each place keeps its relevance. */
async function verdictOn(ids: readonly string[]): Promise<string> {
  const scores = new Map(embedded.map(([id, score]) => [id, score]));
  const rows = ids.map((id, at) => [id, scores.get(id) ?? "0.8", embedded[at]![2]]);
  return (await judge(hybrid, found("_score", embedded), found("_score", rows), ask)).kind;
}

test("rows of a hybrid search that one of its searches scores alike may change places", async () => {
  expect(await verdictOn(["near", "best", "other", "one", "last"])).toBe("same");
});

test.each([
  ["rows that have other scores", ["near", "one", "best", "other", "last"]],
  ["rows whose scores are alike only after scaling", ["last", "best", "one", "other", "near"]],
  ["a row that is none of the engine's", ["near", "best", "one", "foreign", "last"]],
  ["a row that is there twice", ["near", "best", "one", "one", "last"]],
])("a difference is noticed: %s", async (_, ids) => {
  expect(await verdictOn(ids)).toBe("different");
});

const ordered: Query = { table: "books", what: "rows", orderBy: [{ column: "id" }], text: "momo", isAsync: false };
const all = [
  ["a", "1.5", ""],
  ["b", "1.5", ""],
  ["c", "2", ""],
  ["d", "1.5", ""],
  ["e", "1", ""],
];

/** Three of the rows are found, of which the embedded engine gives the first ones. */
async function verdictOnOrdered(ids: readonly string[]): Promise<string> {
  const rows = ids.map((id) => all.find(([each]) => each === id)!);
  const askOrdered: Ask = async ({ limit }) => found("_score", limit === undefined ? all.slice(0, 3) : all);
  return (await judge(ordered, found("_score", all.slice(0, 3)), found("_score", rows), askOrdered)).kind;
}

test("which of several rows with equal scores a search finds is open", async () => {
  expect(await verdictOnOrdered(["b", "c", "d"])).toBe("same");
});

test.each([
  ["a row with a lower score", ["b", "c", "e"]],
  ["another order", ["a", "d", "c"]],
  ["a row that is there twice", ["a", "a", "c"]],
])("a difference among the rows of a search is noticed: %s", async (_, ids) => {
  expect(await verdictOnOrdered(ids)).toBe("different");
});
