import { expect, test } from "vitest";
import { connect } from "../../../../src/engine/engine.ts";
import { engineProblem } from "../../../../src/engine/problem/engine-problem.ts";
import { search } from "../../../../src/engine/query.ts";
import { temporaryFolder } from "../../../support/project.ts";

async function problemOf(sql: string): Promise<string> {
  const db = await connect({ uri: temporaryFolder() });
  const table = await db.createTable("t", [{ id: 1, a: "x" }]);
  return await table.addColumns([{ name: "b", valueSql: sql }]).then(() => "none", engineProblem);
}

test.each([
  ["uper(a)", "Invalid function 'uper'"],
  ["idd + 1", "No field named idd (did you mean 'id'?)"],
  ["upper(a, 2)", "Function 'upper' expects 1 arguments but received 2"],
  ["cast(a as int)", "Cast error: Cannot cast string 'x' to value of Int32 type"],
])("the problem of %s is one line that another sentence can follow", async (sql, problem) => {
  expect(await problemOf(sql)).toBe(problem);
});

test("the columns that it lists are those of the table, in a search and in an update", async () => {
  const db = await connect({ uri: temporaryFolder() });
  const table = await db.createTable("t", [{ id: 1, a: "x" }]);
  const problem = /^No field named other. Valid fields are `?id`?, `?a`?$/;
  await expect(search(table, { columns: [["b", "other"]] }).catch(engineProblem)).resolves.toMatch(problem);
  await expect(table.update({ valuesSql: { a: "other" } }).catch(engineProblem)).resolves.toMatch(problem);
});
