import { createTable, dropTable, int32, type Step } from "lance-migrate";
import { expect, test } from "vitest";
import { stepHash } from "../../../../src/migrations/checksum.ts";
import { checkFiles, type SavedPlan } from "../../../../src/plan/assess/saved-plan.ts";
import { aMigration } from "../../../simulate/history.ts";

const [a, b, c, d] = ["a", "b", "c", "d"].map((table) => createTable(table, { id: int32() })) as [
  Step,
  Step,
  Step,
  Step,
];

/** Checks a plan that was saved with the first steps against a file that has the second ones. */
function check(planned: readonly Step[], now: readonly Step[]): void {
  const { version, file, checksum, steps } = aMigration(1, planned);
  const saved = { plan: { pending: [{ version, file, checksum, steps: steps.map(stepHash) }] } };
  checkFiles(saved as unknown as SavedPlan, [aMigration(1, now)]);
}

test.each<[string, readonly Step[], readonly Step[], string]>([
  [
    "the first of two changed steps is named",
    [a, b, c],
    [a, c, d],
    "step 2 (createTable) is not the step that was planned",
  ],
  ["an added step is named", [a], [a, b, dropTable("b")], "step 2 (createTable) was added"],
  ["removed steps are counted", [a, b], [a], "it has 1 step instead of 2"],
])("a saved plan is refused if its file was edited: %s", (_, planned, now, words) => {
  expect(() => check(planned, now)).toThrow(words);
});

test("a saved plan is accepted if its file is unchanged", () => {
  expect(() => check([a, b], [a, b])).not.toThrow();
});
