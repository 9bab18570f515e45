import { MigrateError } from "../../errors/migrate-error.ts";
import type { PlannedMigration } from "../../plan/make-plan.ts";
import { codeProblem, codesOf } from "../shared/code-problem.ts";

/** Finds code of the project that can't be loaded, whatever machine it runs on. `folder`: the base of its paths. */
export async function problemsOfCode(
  migrations: readonly PlannedMigration[],
  folder: string,
): Promise<readonly MigrateError[]> {
  const problems = new Map<string, MigrateError>();
  for (const planned of migrations.flatMap(({ actions }) => actions)) {
    for (const code of codesOf(planned)) {
      const { text: problem, isOnlyHere } = (await codeProblem(code, folder)) ?? { text: "", isOnlyHere: true };
      if (!isOnlyHere && !problems.has(problem))
        problems.set(problem, new MigrateError("ERR_STEP_WOULD_FAIL", { ...planned.place, problem }));
    }
  }
  return [...problems.values()];
}
