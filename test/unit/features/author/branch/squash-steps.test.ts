import { createTable, int32, renameTable, type Step } from "lance-migrate";
import { expect, test } from "vitest";
import { applyActions } from "../../../../../src/actions/apply-action.ts";
import { squash } from "../../../../../src/features/author/branch/squash-steps.ts";
import { isMigrateError } from "../../../../../src/errors/migrate-error.ts";
import type { Database } from "../../../../../src/schema/table.ts";
import { compileStep } from "../../../../../src/steps/registry.ts";
import { beginning, drafts, stepOf, type Draft } from "../../../../sequences/draw.ts";
import { aMigration } from "../../../../simulate/history.ts";
import * as fc from "../../../../support/fast-check.ts";
import { rounds } from "../../../../support/rounds.ts";

const squashed = (steps: readonly Step[]) => squash([aMigration(1, steps)], { describes: true });

test("a table may have a name that a table with rows had before", () => {
  const withRows = createTable("t", { id: int32() }, { rows: [{ id: 1 }] });
  const steps = [withRows, renameTable("t", "u"), createTable("t", { id: int32() })];
  expect(squashed(steps)).toMatchObject({ steps, kept: ["u"], differences: [] });
});

/** The steps that drafts mean one after the other, without those that can't work. Two of three tables have no rows. */
function stepsOf(draws: readonly Draft[]): readonly Step[] {
  let database: Database = new Map();
  return draws.flatMap((draft) => {
    const drawn = stepOf(draft, database);
    const step = drawn.kind === "createTable" && draft.seed % 3 > 0 ? { ...drawn, rows: undefined } : drawn;
    try {
      database = applyActions(new Map(database), compileStep(step));
      return [step];
    } catch (error) {
      if (isMigrateError(error)) return [];
      throw error;
    }
  });
}

const histories = rounds(200, 2_000);

test(`${histories} squashed histories lead to the same tables`, () => {
  const drawn = fc
    .tuple(beginning, drafts, beginning, drafts)
    .map(([one, more, other, rest]) => [one, ...more, other, ...rest]);
  fc.assert(
    fc.property(drawn, (draws) => void expect(squashed(stepsOf(draws)).differences).toEqual([])),
    { numRuns: histories },
  );
});
