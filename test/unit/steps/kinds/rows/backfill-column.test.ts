import { expect, test } from "vitest";
import { applyActions, commitsOf } from "../../../../../src/actions/apply-action.ts";
import { backfillColumn, createTable } from "../../../../../src/steps/index.ts";
import { binary, float32, int64, list, utf8, vector } from "../../../../../src/schema/declare/type-builders.ts";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";

const options = { from: ["title"], key: "id", with: "./embed.ts", version: "1" };
const whole = backfillColumn("t", "embedding", options);

test("it survives JSON and compiles to one action with three commits", () => {
  expect(parseStep(JSON.parse(JSON.stringify(whole)))).toEqual({ step: whole });
  const [action] = compileStep(whole);
  expect(action).toEqual({ kind: "backfillColumn", table: "t", path: "embedding", ...options });
  const kinds = commitsOf(action!, { columns: [] }, () => true).map((commit) => commit.action.kind);
  expect(kinds).toEqual(["addColumns", "fillColumn", "dropColumns"]);
});

test.each<[object, string]>([
  [{ from: [] }, "from must name at least one column"],
  [{ from: "title" }, "from must be a list of columns"],
  [{ key: undefined }, "key must be the name of the column that identifies rows"],
  [{ with: 7 }, 'with must be the path of a module, { command: ["program", "argument"] }, or { sql: "an expression" }'],
  [{ with: { sql: "a; b" } }, "with.sql must be one expression, without a semicolon"],
  [{ with: { command: [] } }, "with.command must name a program"],
  [{ version: 1 }, 'version must be a text, such as "1"'],
  [{ batch: 0 }, "batch must be a whole number from 1"],
  [{ failedRows: "skip" }, 'failedRows must be "stop" or "leave"'],
  [{ equalRows: "twice" }, 'equalRows must be "once" or "each"'],
  [{ pricePer1000Rows: -1 }, "pricePer1000Rows must be a number from 0"],
  [{ where: "a; b" }, "where must be one expression, without a semicolon"],
  [{ retries: 3 }, "holds an unknown key retries"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "backfillColumn" });
});

const columns = {
  id: int64().notNull(),
  title: utf8(),
  score: float32(),
  tags: list(utf8()),
  embedding: vector(4),
  strict: vector(4).notNull(),
  raw: binary(),
};

test.each<[path: string, change: Partial<typeof options>, problem: string]>([
  ["none", {}, "t has no column none at this point"],
  ["embedding", { from: ["none"] }, "t has no column none at this point"],
  ["embedding", { key: "none" }, "t has no column none at this point"],
  ["embedding", { from: ["embedding"] }, "embedding can't be computed from itself"],
  ["embedding", { from: ["title", "id"] }, "id identifies rows, so it can't be one of `from`"],
  ["id", { from: ["title"] }, "id is not null, so no row lacks a value"],
  ["title", { from: ["score"], key: "title" }, "title is computed, so it can't identify rows"],
  ["raw", {}, "raw is binary, whose values can't be given as JSON"],
  ["embedding", { from: ["tags"] }, "tags is list<utf8>: values can be computed from texts"],
  ["embedding", { key: "score" }, "score can't identify rows: it is float32"],
  ["strict", {}, "strict is not null, so no row lacks a value"],
])("%s with %j is refused: %s", (path, change, problem) => {
  const database = applyActions(new Map(), compileStep(createTable("t", columns)));
  const [action] = compileStep(backfillColumn("t", path, { ...options, ...change }));
  expect(() => applyActions(database, [action!])).toThrow(problem);
});
