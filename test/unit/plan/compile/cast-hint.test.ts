import { addColumn, createTable, execute, int32, renameColumn, retypeColumn, utf8, type Step } from "lance-migrate";
import { expect, test } from "vitest";
import { applyActions } from "../../../../src/actions/apply-action.ts";
import { castHint } from "../../../../src/plan/compile/cast-hint.ts";
import { compileStep } from "../../../../src/steps/registry.ts";

const failed = "Cast error: Cannot cast string 'n/a' to value of Int32 type";
const create = createTable("d", { id: int32(), year: utf8(), "the year": utf8() });
const before = applyActions(new Map(), compileStep(create));

function hintOf(step: Step, problem = failed): string {
  return castHint(compileStep(step)[0]!, before.get("d"), problem);
}

test.each<readonly [string, Step, string]>([
  [
    "an added column",
    addColumn("d", "n", int32(), { as: "cast(year as int)" }),
    " (this filter finds all such rows: year is not null and try_cast(year as int) is null)",
  ],
  [
    "a column that is recreated",
    retypeColumn("d", "year", int32(), { using: "CAST(`the year` AS int)" }),
    " (this filter finds all such rows: `the year` is not null and try_cast(`the year` AS int) is null)",
  ],
  [
    "an update of some rows",
    execute("d", { update: { id: "arrow_cast(year, 'Int32')" }, where: "id > 1 or id < 0" }),
    " (this filter finds all such rows: (id > 1 or id < 0) and year is not null and arrow_try_cast(year, 'Int32') is null)",
  ],
  ["a cast that never fails", addColumn("d", "n", int32(), { as: "try_cast(year as int)" }), ""],
  ["a text that looks like a cast", addColumn("d", "n", utf8(), { as: "'cast(year as int)'" }), ""],
  ["an action without values", renameColumn("d", "year", "years"), ""],
])("the rows of a failed cast are found by a filter: %s", (_, step, hint) => {
  expect(hintOf(step)).toBe(hint);
});

test("another problem than a cast gets no filter", () => {
  expect(hintOf(addColumn("d", "n", int32(), { as: "cast(year as int) / 0" }), "Divide by zero error")).toBe("");
});
