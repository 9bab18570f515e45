import { expect, test } from "vitest";
import { planCommits } from "../../../../src/plan/commits/commits.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { change, sameTables, type Table, type Tables } from "../../../../src/schema/table.ts";
import type { TableIndex } from "../../../../src/schema/table-index.ts";
import { tablesAfter } from "../../../../src/actions/apply-action.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";

const able = abilitiesOf("embedded");
const retype: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", type: { kind: "int64" } }] };

function aTable(...indexes: readonly string[]): Tables {
  const index: TableIndex = { path: "a", kind: "btree", options: {} };
  const table: Table = {
    columns: [{ name: "a", type: { kind: "int32" }, nullable: true }],
    indexes: Object.fromEntries(indexes.map((name) => [name, index])),
  };
  return new Map([["t", table]]);
}

test("the commits of a retype do not depend on the order in which a target tells of its indexes", () => {
  const textsOf = (...indexes: readonly string[]) =>
    planCommits(retype, aTable(...indexes), able).map(({ text }) => text);
  expect(textsOf("two", "one")).toEqual(textsOf("one", "two"));
});

test("whoever is killed while a refused retype is rolled back leaves a table that the next run can go on from", () => {
  const commits = planCommits(retype, aTable("one", "two", "three"), able);
  const known = commits.map(({ before }) => before);
  for (const { before, undo } of commits) {
    const database = new Map(before as ReadonlyMap<string, Table>);
    for (const action of undo) {
      change(database, tablesAfter(database, action));
      expect(known.some((tables) => sameTables(tables, database))).toBe(true);
    }
    if (undo.length > 0) expect(sameTables(known[0]!, database)).toBe(true);
  }
});
