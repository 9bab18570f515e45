import { expect, test } from "vitest";
import { trialChecks } from "../../../../src/plan/assess/trials.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import type { PlannedAction } from "../../../../src/plan/make-plan.ts";
import type { Table } from "../../../../src/schema/table.ts";

const column = (name: string) => ({ name, type: { kind: "int32" as const }, nullable: true });
const table: Table = {
  columns: [column("a"), { name: "s", type: { kind: "struct", fields: [column("x"), column("y")] }, nullable: true }],
};
const now = new Map([
  ["t", table],
  ["u", table],
]);
const retype = (name: string): Action => ({
  kind: "alterColumns",
  table: name,
  alterations: [{ path: "a", type: { kind: "int64" } }],
});
const drop = (...paths: readonly string[]): Action => ({ kind: "dropColumns", table: "u", paths });

function dropsOf(action: Action, ...earlier: readonly Action[]) {
  return trialChecks({ action, before: new Map() } as Partial<PlannedAction> as PlannedAction, { earlier, now }).drops;
}

test("expressions are tried on an empty table where the rows of now are not those that they will see", () => {
  const add: Action = { kind: "addColumns", table: "u", columns: [{ ...column("b"), as: "a + x" }] };
  const tried = (...earlier: readonly Action[]) =>
    trialChecks({ action: add, before: now } as Partial<PlannedAction> as PlannedAction, { earlier, now }).evaluates
      ?.tried;
  expect(tried(retype("t"))).toBeUndefined();
  expect(tried(retype("u"))).toMatchObject([{ words: expect.stringContaining("a + x") }]);
});

test("the columns that are dropped are tried by their names of now, the outermost ones only", () => {
  const renamed: Action = { kind: "alterColumns", table: "u", alterations: [{ path: "s", rename: "r" }] };
  expect(dropsOf(drop("r", "a"), renamed)).toEqual({ table: "u", paths: ["a", "s"] });
  expect(dropsOf(drop("s.x"), drop("a"))).toEqual({ table: "u", paths: ["a", "s.x"] });
  expect(dropsOf(drop("a"), { kind: "renameTable", table: "t", name: "v" })).toEqual({ table: "u", paths: ["a"] });
});

test("no drop is tried where the table's files are written before it, whatever happens to other tables", () => {
  expect(dropsOf(drop("s"), retype("u"))).toBeUndefined();
  expect(dropsOf(drop("a"), retype("t"))).toEqual({ table: "u", paths: ["a"] });
});
