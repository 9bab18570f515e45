/** Finds tables that were recreated, of which a rollback would destroy what its migrations did not make. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { identityQuestions } from "../../plan/assess/required-identities.ts";
import type { Plan } from "../../plan/make-plan.ts";
import type { Target } from "../../targets/contract/target.ts";
import { identify } from "./foreign-changes.ts";

/**
 * Tables that were dropped and recreated after the migrations that are rolled back, as text: what would be dropped is
 * not what these migrations made. Throws ERR_IRREVERSIBLE if an old version of such a table would be restored.
 */
export async function recreatedTables(plan: Plan, target: Target): Promise<readonly string[]> {
  if (target.versions === undefined) return [];
  const words = new Set<string>();
  for (const { place, kind, table, seen, restores } of identityQuestions(plan)) {
    const recreated = `table ${table} was dropped and recreated after ${place.file}`;
    const irreversible = (problem: string) => new MigrateError("ERR_IRREVERSIBLE", { ...place, problem });
    if ((await identify(table, seen, target)) !== "another") {
      // The table was recreated during the migration, which then ended on the new one.
      if (restores === undefined || (await identify(table, [restores], target)) !== "another") continue;
      throw irreversible(
        `version ${restores.version} of table ${table} is not the one that ${place.file} found: the table was dropped and recreated`,
      );
    }
    if (kind === "restoreTable") throw irreversible(`${recreated}, and its old versions went with it`);
    words.add(`${recreated}, and ${kind === "dropTable" ? "would be dropped" : "columns of it would be dropped"}`);
  }
  return [...words];
}
