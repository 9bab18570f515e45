import { expect, test } from "vitest";
import { applyAction } from "../../../../support/fold.ts";
import { float64, int32, int64, struct, utf8 } from "../../../../../src/schema/declare/type-builders.ts";
import {
  addColumn,
  addComputedColumn,
  createTable,
  dropColumn,
  insertRows,
  renameColumn,
  retypeColumn,
} from "../../../../../src/steps/index.ts";
import { compileStep, parseStep, type Step } from "../../../../../src/steps/registry.ts";

const whole = addComputedColumn("t", "total", float64(), "price * 2");

test("a step survives JSON and compiles to its action", () => {
  expect(parseStep(JSON.parse(JSON.stringify(whole)))).toEqual({ step: whole });
  const column = { name: "total", type: { kind: "float64" }, nullable: true, computed: "price * 2" };
  expect(compileStep(whole)).toEqual([{ kind: "addColumns", table: "t", columns: [column] }]);
});

test.each<[object, string]>([
  [{ computed: "" }, "computed must be an SQL expression"],
  [{ computed: '"price"' }, "computed can't hold double quotes"],
  [{ name: "" }, "name must be the name of a column"],
  [{ type: "float64" }, "type must be a type such as int64() or utf8()"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toMatchObject({ problem: expect.stringContaining(problem) });
});

test("no other step takes the builder of a computed column", () => {
  const computed = int64().computed("price");
  for (const step of [createTable("t", { price: int32(), total: computed }), addColumn("t", "total", computed)])
    expect(parseStep(step)).toMatchObject({ problem: expect.stringContaining("computed") });
});

const place = struct({ street: utf8(), town: utf8() });
const made = [
  createTable("t", { price: int32(), upper: utf8(), place, id: int32() }),
  whole,
  addComputedColumn("t", "loud", utf8(), "upper(place.town)"),
  addComputedColumn("t", "more", float64(), "total + 1"),
];

function after(...steps: readonly Step[]) {
  return [...made, ...steps].flatMap(compileStep).reduce(applyAction, new Map());
}

test.each<[string, Step, string]>([
  ["an input", renameColumn("t", "price", "cost"), "the computed column total reads it (price * 2)"],
  ["a field beside an input", renameColumn("t", "place.street", "road"), "the computed column loud reads place"],
  ["a computed column that another reads", dropColumn("t", "total"), "the computed column more reads it"],
  ["the type of an input", retypeColumn("t", "price", int64()), "the computed column total reads it"],
  ["a row's value", insertRows("t", [{ id: 1, more: 2 }], { key: "id" }), "more is a computed column"],
])("the fold refuses to change %s", (_, step, problem) => {
  expect(() => after(step)).toThrow(problem);
});

test("a function or a field called like a column is no input", () => {
  expect(() => after(renameColumn("t", "upper", "other"))).not.toThrow();
});

test("a computed column has another name after a rename, and the same expression", () => {
  const { columns } = after(renameColumn("t", "more", "most")).get("t")!;
  expect(columns.at(-1)).toMatchObject({ name: "most", computed: "total + 1" });
});
