import { expect, test } from "vitest";
import { identityQuestions } from "../../../../src/plan/assess/required-identities.ts";
import type { Plan } from "../../../../src/plan/make-plan.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { createTable, renameTable } from "../../../../src/steps/index.ts";
import type { Step } from "../../../../src/steps/registry.ts";
import { aMigration } from "../../../simulate/history.ts";

const columns = { a: int32() };

/** Drops the table to roll the steps back; the ledger has two versions under its name. */
function questionsOf(steps: readonly Step[]) {
  const migration = aMigration(2, steps);
  const place = { file: migration.file, step: 1, kind: "createTable" };
  const planned = { migration, tables: { t: [3, 5] }, actions: [{ action: { kind: "dropTable", table: "t" }, place }] };
  const now = new Map([["t", { columns: [...columnsOf(columns)] }]]);
  return identityQuestions({ now, migrations: [planned] } as unknown as Plan);
}

test("a table that is dropped must be the one of which the ledger has versions", () => {
  expect(questionsOf([createTable("t", columns)])).toMatchObject([{ kind: "dropTable", table: "t" }]);
});

test("versions of a table that the migration renamed say nothing of the one that it created under that name", () => {
  expect(questionsOf([renameTable("t", "v"), createTable("t", columns)])).toEqual([]);
});
