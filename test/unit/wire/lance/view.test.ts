import { expect, test } from "vitest";
import { viewOf, withoutViewState } from "../../../../src/wire/lance/view.ts";

const definition = JSON.stringify({ source_table: "docs", inputs: ["id", "s.x"], projections: [] });
const column = (name: string) => ({ name, type: { kind: "int32" }, nullable: true }) as const;

test("a view is what the engine has defined so", () => {
  expect(viewOf({ metadata: { "mv.definition": definition } })).toEqual({ from: "docs", inputs: ["id", "s.x"] });
  for (const text of ["{", "{}", '{"source_table":"docs"}', '{"inputs":[]}', "null", null, undefined])
    expect(viewOf({ metadata: { "mv.definition": text } as never })).toBeUndefined();
  expect(viewOf({})).toBeUndefined();
});

test("what changes with each refresh is not part of it", () => {
  const metadata = { "mv.definition": definition, "mv.source_version": "3", "mv.incarnation": "a", owner: "b" };
  const columns = [column("id"), column("__source_row_id")];
  expect(withoutViewState({ columns, metadata })).toEqual({
    columns: [column("id")],
    metadata: { "mv.definition": definition, owner: "b" },
  });
  const table = { columns, metadata: { "mv.source_version": "3" } };
  expect(withoutViewState(table)).toBe(table);
});
