import { expect, test } from "vitest";
import {
  haveNeighbours,
  recallOf,
  vectorsOf,
  type Vectors,
} from "../../../../../src/features/embed/recall/neighbours.ts";

const rows = (...vectors: readonly (readonly number[])[]): readonly Vectors[] => vectors.map((one) => [one]);

test("recall is the share of the true neighbours that were found, without the row of the query", () => {
  const query = [[0, 0]];
  const exact = rows([0, 0], [0, 1], [0, 2]);
  const recall = (...found: readonly (readonly number[])[]) =>
    recallOf({ query, distance: "l2", k: 2, exact, found: rows(...found) });
  expect(recall([0, 0], [0, 1], [0, 2])).toBe(1);
  expect(recall([0, 1], [0, 2], [0, 3])).toBe(1);
  expect(recall([0, 0], [0, 1], [0, 3])).toBe(0.5);
  expect(recall([0, 0], [0, 3], [0, 4])).toBe(0);
  expect(recall([0, 0])).toBe(0);
});

test("another row at the same distance is as good", () => {
  const exact = rows([0, 0], [0, 0], [0, 1]);
  const found = rows([0, 0], [0, 0], [1, 0]);
  expect(recallOf({ query: [[0, 0]], distance: "l2", k: 2, exact, found })).toBe(1);
});

test("a table with fewer rows has fewer neighbours, and a single row has none", () => {
  const [query, distance, k] = [[[1, 0]], "cosine", 10] as const;
  const exact = rows([1, 0], [1, 1], [0, 1]);
  expect(recallOf({ query, distance, k, exact, found: exact })).toBe(1);
  expect(recallOf({ query, distance, k, exact, found: rows([1, 0], [1, 1]) })).toBe(0.5);
  expect(recallOf({ query, distance, k, exact: rows([1, 0]), found: rows([1, 0]) })).toBeUndefined();
});

test.each([
  { distance: "l2", near: [3, 3], far: [20, 0] },
  { distance: "cosine", near: [20, 1], far: [3, 3] },
  { distance: "dot", near: [20, 0], far: [3, 3] },
  { distance: "hamming", near: [7, 1], far: [4, 4] },
])("neighbours are compared by the distance $distance of the index", ({ distance, near, far }) => {
  const searched = { query: [[3, 1]], distance, k: 1 };
  expect(recallOf({ ...searched, exact: rows(near), found: rows(far) })).toBe(0);
  expect(recallOf({ ...searched, exact: rows(far), found: rows(near) })).toBe(1);
});

test("each vector of a query counts with the nearest vector of a list", () => {
  const query = [
    [1, 0],
    [0, 1],
  ];
  const both = [query.toReversed()];
  const one = [[[1, 0]]];
  const searched = { query, distance: "cosine", k: 1 };
  expect(recallOf({ ...searched, exact: both, found: one })).toBe(0);
  expect(recallOf({ ...searched, exact: one, found: both })).toBe(1);
});

test("vectors of zeros have no neighbours by cosine, and vectors with other than numbers have none at all", () => {
  expect(haveNeighbours([[0, 0]], "l2")).toBe(true);
  expect(haveNeighbours([[0, 0]], "cosine")).toBe(false);
  expect(haveNeighbours([[1, Number.NaN]], "l2")).toBe(false);
  expect(haveNeighbours([[1, null as unknown as number]], "l2")).toBe(false);
  expect(haveNeighbours([], "l2")).toBe(false);
});

test("a row holds a vector, or a list of vectors", () => {
  expect(vectorsOf([1, 2])).toEqual([[1, 2]]);
  expect(vectorsOf(Float32Array.of(1, 2) as never)).toEqual([Float32Array.of(1, 2)]);
  expect(
    vectorsOf([
      [1, 2],
      [3, 4],
    ]),
  ).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(vectorsOf([])).toEqual([]);
});
