import { expect, test } from "vitest";
import { applyActions, describeAction, invert, risksOf } from "../../../../../src/actions/apply-action.ts";
import { createIndex, createTable, reembedColumn } from "../../../../../src/steps/index.ts";
import { int64, utf8, vector } from "../../../../../src/schema/declare/type-builders.ts";
import { btree, ivfPq } from "../../../../../src/schema/declare/index-builders.ts";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { withoutPrepared } from "../../../../../src/actions/rewrite/prepared-columns.ts";

const computing = { from: ["title"], key: "id", with: "./embed.ts", version: "e5 v2" } as const;
const options = { ...computing, type: vector(16), index: ivfPq({ numPartitions: 2 }) };
const whole = reembedColumn("t", "embedding", options);
const before = applyActions(
  new Map(),
  [
    createTable("t", { id: int64().notNull(), title: utf8(), embedding: vector(8) }),
    createIndex("t", "embedding", ivfPq()),
  ].flatMap((step) => compileStep(step)),
);

test("it survives JSON, and the column is prepared, switched and caught up with", () => {
  expect(parseStep(JSON.parse(JSON.stringify(whole)))).toEqual({ step: whole });
  const [prepare, change, catchUp] = compileStep(whole);
  const index = { kind: "ivfPq", options: { numPartitions: 2 }, name: "embedding_idx_e5_v2" };
  const type = vector(16).type;
  expect(prepare).toMatchObject({ kind: "prepareColumn", path: "embedding", type, index, ...computing });
  expect(change).toMatchObject({ kind: "switchColumn", path: "embedding", keep: "embedding_old", type, index });
  expect(catchUp).toMatchObject({ kind: "catchUpColumn", path: "embedding", ...computing });
});

test("its inverse leads back to the table before it", () => {
  const database = new Map(before);
  applyActions(database, compileStep(whole));
  const [, change] = compileStep(whole);
  const inverse = invert(change!, before);
  if ("lost" in inverse) throw new Error(inverse.lost);
  expect(inverse.blockers).toEqual([{ kind: "filled", table: "t", path: "embedding", at: 1 }]);
  const { columns, indexes } = applyActions(database, inverse.actions).get("t")!;
  expect(columns).toEqual(before.get("t")!.columns);
  expect(Object.entries(indexes!).filter(([, index]) => index !== null)).toEqual(
    Object.entries(before.get("t")!.indexes!),
  );
});

test("with `down`, the old values are computed again before the columns are switched back, and caught up with after it", () => {
  const [, change] = compileStep(
    reembedColumn("t", "embedding", { ...options, down: { with: "./old.ts", version: "1" } }),
  );
  const inverse = invert(change!, before);
  if ("lost" in inverse) throw new Error(inverse.lost);
  expect(inverse.blockers).toEqual([]);
  expect(inverse.actions[0]).toMatchObject({
    ...computing,
    kind: "prepareColumn",
    path: "embedding",
    into: "embedding_old",
    type: vector(8).type,
    with: "./old.ts",
    version: "1",
  });
  expect(inverse.actions.at(-2)).toMatchObject({ kind: "catchUpColumn", path: "embedding", was: "embedding_old" });
});

test.each([
  ["embedding", { ...options, keep: "title" }, "title"],
  ["embedding", { ...options, from: ["id"] }, "id identifies rows"],
  ["embedding", { ...options, from: ["embedding"] }, "embedding can't be computed from itself"],
  ["embedding", { ...options, index: btree() }, "index embedding_idx_e5_v2 of t can't be on embedding"],
  ["embedding", { ...options, indexName: "embedding_idx" }, "is there already"],
  ["none", options, "t has no column none"],
] as const)("%s with %j is refused: %s", (path, given, problem) => {
  expect(() => applyActions(new Map(before), compileStep(reembedColumn("t", path, given as never)))).toThrow(problem);
});

test("searches that name no column are at risk only if the lengths of both vectors are the same", () => {
  const down = { with: "./old.ts", version: "1" };
  const kinds = (type: ReturnType<typeof vector>) => {
    const [, change] = compileStep(reembedColumn("t", "embedding", { ...options, type, down }));
    return risksOf(change!, before.get("t")).map(({ kind }) => kind);
  };
  expect(kinds(vector(16))).toEqual([]);
  expect(kinds(vector(8))).toEqual(["readers"]);
});

test("prepared columns and their indexes are left out of tables", () => {
  const column = { type: vector(16).type, nullable: true };
  const index = { path: "_lance_migrate_next_a", kind: "ivfPq", options: {} };
  const table = {
    columns: [
      { name: "a", ...column },
      { name: "_lance_migrate_next_a", ...column },
      { name: "_lance_migrate_source_a", ...column },
    ],
    indexes: { a_idx: { ...index, path: "a" }, a_idx_2: index, gone: null },
  };
  expect(withoutPrepared(table)).toEqual({
    columns: [{ name: "a", ...column }],
    indexes: { a_idx: { ...index, path: "a" }, gone: null },
  });
});

test("an embedding function in the schema's metadata keeps the old model, which is a risk", () => {
  const functions = JSON.stringify([{ name: "openai", source_column: "title", vector_column: "embedding" }]);
  const table = { ...before.get("t")!, metadata: { embedding_functions: functions } };
  const [, change] = compileStep(whole);
  expect(risksOf(change!, table)).toEqual([
    { kind: "embedding", text: expect.stringContaining('"openai" of t refers to embedding') },
    { kind: "writers", text: expect.stringContaining("the step has no `down`") },
  ]);
});

test("what it is evaluated with is part of the first action, with the code of the old model", () => {
  const down = { with: "./old.ts", version: "1" } as const;
  const [prepare, change] = compileStep(
    reembedColumn("t", "embedding", { ...options, evaluate: "./queries.ts", down }),
  );
  expect(prepare).toMatchObject({ evaluate: { file: "./queries.ts", old: down } });
  expect(change).not.toHaveProperty("evaluate");
  const evaluate = { file: "./queries.ts", k: 5, least: 0.8 };
  const [other] = compileStep(reembedColumn("t", "embedding", { ...options, evaluate }));
  expect(other).toMatchObject({ evaluate });
  expect(describeAction(other!)).toContain(
    ", and evaluate them with ./queries.ts, if at least 0.8 of the rows are found",
  );
});

test.each([
  [{ evaluate: "" }, "must be the path of a module"],
  [{ evaluate: { file: "a.ts", least: 1.5 } }, "must be a number greater than 0, and at most 1"],
  [{ evaluate: { file: "a.ts", k: 0 } }, "must be a whole number from 1"],
  [{ evaluate: { k: 3 } }, "must be the path of a module"],
  [{ evaluate: "a.ts", type: { kind: "utf8" }, index: undefined }, "evaluate is for a column of vectors; leave it out"],
])("%j is refused", (given, problem) => {
  expect(parseStep({ ...whole, ...given })).toMatchObject({ problem: expect.stringContaining(problem) });
});
