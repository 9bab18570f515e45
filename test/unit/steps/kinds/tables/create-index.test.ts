import { expect, test } from "vitest";
import { btree, ivfPq } from "../../../../../src/schema/declare/index-builders.ts";
import { compileStep, parseStep, readStep, stepFlags } from "../../../../../src/steps/registry.ts";
import { createIndex } from "../../../../../src/steps/index.ts";

const whole = createIndex("t", "s.v", ivfPq({ distanceType: "cosine" }), { name: "by_meaning" });

test.each([
  [
    createIndex("t", "id", btree()),
    { kind: "createIndex", table: "t", name: "id_idx", index: { path: "id", kind: "btree", options: {} } },
  ],
  [
    createIndex("t", "`s`.id", btree()),
    { kind: "createIndex", table: "t", name: "s_id_idx", index: { path: "`s`.id", kind: "btree", options: {} } },
  ],
  [
    whole,
    {
      kind: "createIndex",
      table: "t",
      name: "by_meaning",
      index: { path: "s.v", kind: "ivfPq", options: { distanceType: "cosine" } },
    },
  ],
  [
    createIndex("t", "v", ivfPq(), { minRecall: 0.9, k: 5 }),
    {
      kind: "createIndex",
      table: "t",
      name: "v_idx",
      index: { path: "v", kind: "ivfPq", options: {} },
      condition: { minRecall: 0.9, k: 5, sample: 200 },
    },
  ],
  [
    createIndex("t", "id", btree(), { replace: true }),
    {
      kind: "createIndex",
      table: "t",
      name: "id_idx",
      index: { path: "id", kind: "btree", options: {} },
      replace: true,
    },
  ],
])("step %# survives JSON and compiles to its action", (step, action) => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
  expect(compileStep(step)).toEqual([action]);
});

test.each<[object, string]>([
  [{ path: "" }, "path must be the path of a column"],
  [{ name: "" }, "name must be the name of an index"],
  [
    { name: "__lance_frag_reuse" },
    "name can't begin with __lance_, which the engine's own indexes do: it could not use the table any more",
  ],
  [{ replace: "yes" }, "replace must be true or false"],
  [{ type: undefined }, "type must be an index such as btree() or ivfPq()"],
  [{ type: { kind: "hash", options: {} } }, "type.kind must be an index such as btree() or ivfPq()"],
  [{ unique: true }, "holds an unknown key unique"],
  // @ts-expect-error TypeScript refuses it too.
  [createIndex("t", "v", ivfPq(), { k: 5 }), "k and sample are for minRecall; give it too"],
  [{ sample: 5 }, "k and sample are for minRecall; give it too"],
  [{ ...createIndex("t", "id", btree()), minRecall: 1 }, "minRecall is for vector indexes, and this is btree"],
  [{ minRecall: 0 }, "minRecall must be a number greater than 0, and at most 1"],
  [{ minRecall: 1.5 }, "minRecall must be a number greater than 0, and at most 1"],
  [{ minRecall: 1, k: 1.5 }, "k must be a whole number from 1"],
  [{ minRecall: 1, sample: 1_001 }, "sample must be at most 1000"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "createIndex" });
});

test.each([
  [
    { kind: "ivfFlat", options: { partitions: 3 } },
    "type.options hold an unknown one: partitions; there is distanceType, numPartitions",
  ],
  [{ kind: "ivfFlat", options: { numPartitions: "many" } }, "type.options.numPartitions must be a whole number from 1"],
  [{ kind: "btree", options: { distanceType: "l2" } }, "type.options hold an unknown one: distanceType; there is none"],
  [{ kind: "ivfPq", options: { distanceType: "hamming" } }, "type.options.distanceType must be one of l2, cosine, dot"],
  // The engine ends its process at one that it does not know.
  [{ kind: "fts", options: { language: "Klingon" } }, /^type\.options\.language must be one of Arabic, .*Turkish$/],
])("the parameters of %j are refused in words", (type, problem) => {
  expect(parseStep({ ...whole, type })).toEqual({ problem: expect.stringMatching(problem), kind: "createIndex" });
});

test("the flag of migrate new takes the name and a recall", () => {
  const step = createIndex("t", "v", ivfPq(), { name: "near", minRecall: 0.9, k: 5 });
  expect(readStep(stepFlags.get("create-index")!, 't.v:ivfPq as near with {"minRecall": 0.9, "k": 5}')).toEqual(step);
});
