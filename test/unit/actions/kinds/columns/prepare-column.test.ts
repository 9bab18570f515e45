import { expect, test } from "vitest";
import type { PrepareColumnAction } from "../../../../../src/actions/model/action.ts";
import { kindsOf } from "../../../../../src/actions/apply-action.ts";
import { ivfFlat } from "../../../../../src/schema/declare/index-builders.ts";
import { vector } from "../../../../../src/schema/declare/type-builders.ts";

test("a column is prepared where no index can be created, unless it gets one", () => {
  const prepare: PrepareColumnAction = {
    kind: "prepareColumn",
    table: "t",
    path: "v",
    type: vector(2).type,
    key: "id",
    from: ["title"],
    with: "./embed.ts",
    version: "2",
  };
  expect(kindsOf(prepare)).not.toContain("createIndex");
  expect(kindsOf({ ...prepare, index: { name: "near", ...ivfFlat() } })).toContain("createIndex");
});
