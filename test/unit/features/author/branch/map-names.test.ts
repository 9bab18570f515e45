import { expect, test } from "vitest";
import { nameMapAfter } from "../../../../../src/features/author/branch/map-names.ts";
import type { Action } from "../../../../../src/actions/model/action.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const documents: Table = { columns: [{ name: "title", type: { kind: "utf8" }, nullable: true }] };
const after = (action: Action) => nameMapAfter(new Map([["documents", documents]]), [{ by: "0002_theirs", action }]);
const rename: Action = {
  kind: "alterColumns",
  table: "documents",
  alterations: [{ path: "title", rename: "headline" }],
};

test("a column has its new name after the other migrations", () => {
  expect(after(rename).path("documents", "title")).toBe("headline");
});

test.each([
  ["a table that is gone", () => after({ kind: "dropTable", table: "documents" }).table("documents")],
  ["SQL with the old name", () => after(rename).sql("documents", "title is null")],
])("%s has no name after the other migrations", (_, name) => {
  expect(name).toThrow(expect.objectContaining({ code: "ERR_MOVED" }));
});
