import { expect, test } from "vitest";
import { indexKindOf, protocolKinds, toIndex } from "../../../src/wire/index-details.ts";

test("what the protocol calls a kind is that kind", () => {
  expect(Object.entries(protocolKinds).filter(([kind, name]) => indexKindOf(name) !== kind)).toEqual([]);
});

test.each([
  ["BTree", "btree"],
  ["IVF_HNSW_SQ", "hnswSq"],
  ["Inverted", "fts"],
  ["ZONEMAP", undefined],
])("%s is %s", (name, kind) => {
  expect(indexKindOf(name)).toBe(kind);
});

test("an index that is told of with needless quotes is on the plain path", () => {
  expect(toIndex("BTREE", "`with space`.`x`", {})).toEqual({ path: "with space.x", kind: "btree", options: {} });
});

test("what is told of its parameters is kept, as the engine's builders take it", () => {
  const details = {
    metric_type: "COSINE",
    compression: { num_sub_vectors: 2, num_bits: 8 },
    runtime_hints: { "lance.ivf.max_iters": "7" },
    hnsw: null,
  };
  const options = { distanceType: "cosine", numSubVectors: 2, numBits: 8, maxIterations: 7 };
  expect(toIndex("IVF_PQ", "v", details)).toEqual({ path: "v", kind: "ivfPq", options });
  const text = { with_position: true, lower_case: false, max_token_length: null };
  expect(toIndex("FTS", "b", text)?.options).toEqual({ withPosition: true, lowercase: false });
});

test("an index of a kind that nobody knows is there, and can't be recreated", () => {
  const stuck = "lance-migrate can't create an index of the kind ZONEMAP";
  expect(toIndex("ZONEMAP", "a", {})).toEqual({ path: "a", kind: "ZONEMAP", options: {}, stuck });
  expect(toIndex(undefined, "a", {})).toMatchObject({ kind: "unknown", stuck: "its kind is unknown" });
});

test("an index on nothing is none", () => {
  expect(toIndex("BTREE", undefined, {})).toBeUndefined();
});
