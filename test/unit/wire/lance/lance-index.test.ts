import { expect, test } from "vitest";
import { indexKindOf, protocolKinds, toIndex } from "../../../../src/wire/lance/lance-index.ts";

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

test("an index hnswSq has no parameter numBits, because no builder takes it, and only with the engine's own value can it be recreated", () => {
  const detailsOf = (bits: number) => ({ metric_type: "L2", compression: { type: "sq", num_bits: bits } });
  expect(toIndex("IVF_HNSW_SQ", "v", detailsOf(8))).toEqual({
    path: "v",
    kind: "hnswSq",
    options: { distanceType: "l2" },
  });
  expect(toIndex("IVF_HNSW_SQ", "v", detailsOf(4))?.stuck).toBe("lance-migrate can't set num_bits to 4");
});

test("an index of a kind that nobody knows is there, and can't be recreated", () => {
  const stuck = "lance-migrate can't create an index of the kind ZONEMAP";
  expect(toIndex("ZONEMAP", "a", {})).toEqual({ path: "a", kind: "ZONEMAP", options: {}, stuck });
  expect(toIndex(undefined, "a", {})).toMatchObject({ kind: "unknown", stuck: "its kind is unknown" });
});

test.each([
  ["FTS", { lance_tokenizer: "json" }, "lance_tokenizer to json"],
  ["FTS", { base_tokenizer: "simple", preserve_original: true }, "preserve_original to true"],
  ["FTS", { base_tokenizer: "code", split_on_numerics: false }, "split_on_numerics to false"],
  ["FTS", { something_new: [1, 2] }, "something_new to 1,2"],
  ["IVF_PQ", { runtime_hints: { "lance.pq.max_iters": "9" } }, "lance.pq.max_iters to 9"],
  [
    "IVF_RQ",
    { compression: { rotation_type: "matrix" }, target_partition_size: 9 },
    "rotation_type to matrix and target_partition_size to 9",
  ],
])("an index %s with %o can't be recreated", (type, details, words) => {
  expect(toIndex(type, "a", details)?.stuck).toBe(`lance-migrate can't set ${words}`);
});

test.each([
  ["FTS", { base_tokenizer: "code", preserve_original: true, custom_stop_words: null, something_new: null }],
  [
    "IVF_PQ",
    {
      compression: { type: "pq", num_bits: 4 },
      hnsw: null,
      runtime_hints: { "lance.ivf.shuffle_partition_batches": "1" },
    },
  ],
  ["IVF_HNSW_SQ", { compression: { type: "sq", num_bits: 8 }, target_partition_size: null }],
  ["BTREE", undefined],
  ["BTREE", "a text"],
])("an index %s with %o can be recreated", (type, details) => {
  expect(toIndex(type, "a", details)).not.toHaveProperty("stuck");
});

test("an index on nothing is none", () => {
  expect(toIndex("BTREE", undefined, {})).toBeUndefined();
});
