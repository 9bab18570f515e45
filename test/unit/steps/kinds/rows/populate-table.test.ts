import { expect, test } from "vitest";
import { applyActions } from "../../../../../src/actions/apply-action.ts";
import { createTable, populateTable } from "../../../../../src/steps/index.ts";
import { binary, float32, int32, int64, list, utf8 } from "../../../../../src/schema/declare/type-builders.ts";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";

const options = {
  from: "documents",
  columns: ["body"],
  key: "id",
  source: "document",
  mark: "chunked_from",
  with: "./chunks.ts",
  version: "1",
};
const whole = populateTable("chunks", options);

test("it survives JSON and compiles to one action", () => {
  expect(parseStep(JSON.parse(JSON.stringify(whole)))).toEqual({ step: whole });
  expect(compileStep(whole)).toEqual([{ kind: "populateTable", table: "chunks", ...options }]);
});

test.each<[object, string]>([
  [{ from: ["documents"] }, "from must be the name of a table"],
  [{ columns: [] }, "columns must name at least one column"],
  [{ key: undefined }, "key must be the name of the column that identifies rows"],
  [{ source: "" }, "source must be the name of the column with the key of the source"],
  [{ mark: undefined }, "mark must be the name of the column with the marks"],
  [
    { with: { sql: "upper(body)" } },
    "with must be the path of a module or { command }: SQL gives one value for a row, and no rows",
  ],
  [{ batch: 0 }, "batch must be a whole number from 1"],
  [{ retries: 3 }, "holds an unknown key retries"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "populateTable" });
});

const tables = [
  createTable("documents", { id: int64().notNull(), body: utf8(), tags: list(utf8()), score: float32() }),
  createTable("chunks", { document: int32(), name: utf8(), chunked_from: utf8(), score: float32() }),
  createTable("strict", { document: int64(), raw: binary().notNull(), chunked_from: utf8() }),
];

test.each<[table: string, change: Partial<typeof options>, problem: string]>([
  ["none", {}, "no migration before this creates a table none"],
  ["chunks", { from: "none" }, "no migration before this creates a table none"],
  ["chunks", { from: "chunks" }, "its rows can't be computed from its own"],
  ["chunks", { columns: ["none"] }, "documents has no column none at this point"],
  ["chunks", { columns: ["body", "id"] }, "id identifies rows, and the code gets it anyway"],
  ["chunks", { columns: ["tags"] }, "tags is list<utf8>: values can be computed from texts"],
  ["chunks", { key: "score" }, "score can't identify rows: it is float32"],
  ["chunks", { key: "none" }, "documents has no column none at this point"],
  ["chunks", { source: "none" }, "chunks has no column none at this point"],
  ["chunks", { source: "score" }, "score is float32, and must be a text or a whole number"],
  ["chunks", { source: "name" }, "name is utf8, and can't hold documents.id, which is int64"],
  ["chunks", { mark: "document" }, "document can't hold both the source and the mark"],
  ["chunks", { mark: "score" }, "score is float32, and must be utf8"],
  ["strict", {}, "raw is binary and not null, whose values can't be given as JSON"],
])("%s with %j is refused: %s", (table, change, problem) => {
  const database = applyActions(
    new Map(),
    tables.flatMap((step) => compileStep(step)),
  );
  const actions = compileStep(populateTable(table, { ...options, ...change }));
  expect(() => applyActions(database, actions)).toThrow(problem);
});

test("the tables stay as they are", () => {
  const database = applyActions(
    new Map(),
    tables.flatMap((step) => compileStep(step)),
  );
  expect(applyActions(new Map(database), compileStep(whole))).toEqual(database);
});
