import { createTable, execute, int64, setNullable } from "lance-migrate";
import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { preflightChecks } from "../../../../src/plan/assess/known-failures.ts";
import { makePlan } from "../../../../src/plan/make-plan.ts";
import { aMigration } from "../../../simulate/history.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";

test("rows that make a step fail are asked about, although a later step changes them", () => {
  const first = aMigration(1, [createTable("t", { a: int64() })]);
  const second = aMigration(2, [setNullable("t", "a", false), execute("t", { update: { a: "1" } })]);
  const plan = makePlan({
    migrations: [first, second],
    pending: [second],
    state: foldLedger([
      { event: "applied", version: 1, name: "one", checksum: first.checksum, at: 0, duration: 0 } as never,
    ]),
    inDoubt: new Set(),
    target: { name: "prod", capabilities: abilitiesOf("embedded") },
    ledger: "_l",
  });
  const { questions } = preflightChecks(plan).get(plan.migrations[0]!.actions[0]!)!;
  expect(questions.map(({ ask }) => ask)).toMatchObject([{ table: "t", predicate: "`a` IS NULL" }]);
});
