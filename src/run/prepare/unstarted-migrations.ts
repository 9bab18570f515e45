/**
 * Settles migrations that a lost run may have begun, before earlier ones are rolled back. As long as the ledger leaves
 * them in doubt, `up` takes them for the last that ran.
 */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { migrationsInDoubt } from "../../ledger/state/ledger-state.ts";
import type { LedgerEntry } from "../../ledger/state/record.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import { begunWithoutFile } from "../../plan/history/pending.ts";
import { recordFacts } from "../../plan/history/record-facts.ts";
import type { PlannedMigration } from "../../plan/make-plan.ts";
import { sameTables } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import { describeTables, tablesInSnapshots } from "../check/snapshots.ts";
import { planChosen, type PlanningInput } from "./plan-run.ts";

/**
 * The records that state that nothing of them has run. Throws ERR_UNSETTLED if the tables show otherwise, and ERR_BEGUN
 * if a file is missing here.
 */
export async function unstartedEntries(input: PlanningInput): Promise<readonly LedgerEntry[]> {
  const { context, state, files, besideAnother } = input;
  const { target, runner } = context;
  // A run that is still running records the outcome itself.
  if (besideAnother || !target.capabilities.describes) return [];
  const inDoubt = migrationsInDoubt(state, runner.run);
  const begun = [...inDoubt].filter((version) => !state.migrations.has(version));
  const unfiled = begun.find((version) => !files.some((file) => file.version === version));
  if (unfiled !== undefined) throw begunWithoutFile(formatVersion(unfiled), files);
  const unknown = files.filter(({ version }) => begun.includes(version));
  const entries: LedgerEntry[] = [];
  for (const file of unknown) {
    const planned = await planChosen([file], "up", input).catch((error: unknown) => {
      if (isMigrateError(error, "ERR_DRIFT")) return undefined;
      throw error;
    });
    const found = planned?.plan.migrations[0];
    if (found === undefined || (await mayHaveBegun(found, target)))
      throw new MigrateError("ERR_UNSETTLED", { version: formatMigration(file) });
    const { migration, total, attempt } = found;
    const facts = recordFacts(migration, [], { step: 0, total, attempt, duration: 0, tables: {} });
    const detail = "the run that turned to it was never heard of again, and nothing of it had run";
    entries.push({ event: "interrupted", ...facts, detail });
  }
  return entries;
}

/**
 * Whether the tables fail to prove that nothing has run. A table may look the same before and after an action that sets
 * metadata.
 */
async function mayHaveBegun({ done, actions, total }: PlannedMigration, target: Target): Promise<boolean> {
  const [first] = actions;
  if (first === undefined || done > 0 || actions.length < total) return true;
  return sameTables(first.after, tablesInSnapshots(await describeTables(first.after.keys(), target, true)));
}
