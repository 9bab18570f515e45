import { expect, test } from "vitest";
import * as types from "../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../src/schema/typed/shape.ts";
import {
  bitmap,
  btree,
  fm,
  fts,
  hnswPq,
  hnswSq,
  ivfFlat,
  ivfPq,
  ivfRq,
  labelList,
} from "../../../src/schema/declare/index-builders.ts";
import { formatIndex, indexProblem, sameIndex, type IndexType } from "../../../src/schema/table-index.ts";

const { bool, date32, decimal128, float32, int8, largeList, list, struct, utf8, binary, uint8, vector, timestamp } =
  types;

test.each<[IndexType, readonly ColumnType[]]>([
  [btree(), [int8(), float32(), bool(), utf8(), date32(), timestamp("us")]],
  [bitmap(), [int8(), bool(), utf8(), binary()]],
  [labelList(), [list(int8()), largeList(utf8()), list(bool()), list(binary())]],
  [fts(), [utf8(), list(utf8()), list(list(utf8()))]],
  [fm(), [utf8(), binary()]],
  [ivfFlat(), [vector(4)]],
  [ivfFlat({ distanceType: "hamming" }), [types.fixedSizeList(uint8(), 4)]],
  [ivfPq({ distanceType: "cosine" }), [vector(4)]],
])("%j is for its types", (index, columns) => {
  expect(columns.map(({ type }) => indexProblem(index, type))).toEqual(columns.map(() => undefined));
});

test.each<[IndexType, ColumnType, string]>([
  [btree(), list(int8()), "is for numbers, bool, utf8, fixedSizeBinary, dates, times and timestamps"],
  [btree(), decimal128(3, 1), "is for numbers, bool, utf8, fixedSizeBinary, dates, times and timestamps"],
  [bitmap(), float32(), "is for integers, bool, text and binary"],
  [labelList(), int8(), "is for lists of integers, bool, text or binary"],
  [labelList(), list(float32()), "is for lists of integers, bool, text or binary"],
  [labelList(), list(date32()), "is for lists of integers, bool, text or binary"],
  [labelList(), list(struct({ x: int8() })), "is for lists of integers, bool, text or binary"],
  [fts(), int8(), "is for text and lists of text"],
  [fm(), int8(), "is for text and binary"],
  [hnswSq(), list(float32()), "is for vectors"],
  [hnswSq(), types.fixedSizeList(int8(), 4), "is for vectors of floats"],
  [
    hnswSq({ distanceType: "hamming" as "l2" }),
    vector(4),
    'takes the distance "hamming" only as ivfFlat on a vector of uint8',
  ],
  [ivfPq({ numSubVectors: 4 }), vector(6), "needs numSubVectors that divides the vector's length of 6"],
  [hnswPq({ numSubVectors: 2 }), vector(3), "needs numSubVectors that divides the vector's length of 3"],
  [ivfPq({ numSubVectors: 1, numBits: 4 }), vector(8), "needs even numSubVectors with numBits: 4"],
  [ivfRq(), vector(12), "is for vectors of a length that 8 divides, and this is 12"],
])("%j is not for %j", (index, { type }, problem) => {
  expect(indexProblem(index, type)).toBe(problem);
});

test("an index of parts is for vectors that they fit", () => {
  expect(indexProblem(ivfPq({ numSubVectors: 4 }), vector(12).type)).toBeUndefined();
  expect(indexProblem(ivfPq({ numSubVectors: 2, numBits: 4 }), vector(6).type)).toBeUndefined();
  expect(indexProblem(ivfRq(), vector(16).type)).toBeUndefined();
});

test("an index is the same when kind and column are", () => {
  const index = { path: "a", ...fts() };
  expect(sameIndex(index, { ...index, options: { stem: true } })).toBe(true);
  expect(sameIndex(index, { ...index, path: "b" })).toBe(false);
  expect(sameIndex(index, { ...index, kind: "fm" })).toBe(false);
  expect(sameIndex(index, null)).toBe(false);
  expect(sameIndex(null, null)).toBe(true);
});

test("in words", () => {
  expect(formatIndex(btree())).toBe("btree");
  expect(formatIndex(fts({ stem: true, language: "German" }))).toBe("fts(stem: true, language: German)");
});
