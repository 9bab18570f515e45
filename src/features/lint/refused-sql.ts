import { MigrateError } from "../../errors/migrate-error.ts";
import { trialChecks } from "../../plan/assess/trials.ts";
import type { PlannedMigration } from "../../plan/make-plan.ts";
import { refusedSql } from "../../run/prepare/find-known-failures.ts";
import type { Target } from "../../targets/contract/target.ts";

/**
 * Tries the SQL of steps as `plan` does, on empty tables with the columns of that point, which are not in the database.
 * Finds nothing on a target that can't try it.
 */
export async function problemsOfSql(
  migrations: readonly PlannedMigration[],
  target: Target,
): Promise<readonly MigrateError[]> {
  const problems: MigrateError[] = [];
  for (const planned of migrations.flatMap(({ actions }) => actions)) {
    const { evaluates } = trialChecks(planned, { earlier: [], now: new Map() });
    const problem = evaluates && (await refusedSql(evaluates, target));
    if (problem !== undefined) problems.push(new MigrateError("ERR_STEP_WOULD_FAIL", { ...planned.place, problem }));
  }
  return problems;
}
