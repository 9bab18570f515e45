/** Measures the recall of the vector indexes on tables of migrations. Changes nothing. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { Migration } from "../../../migrations/load.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { compileMigration, type Able } from "../../../plan/compile/compile.ts";
import { withStepsThatRan } from "../../../plan/history/renumbered.ts";
import { historyOrder, replayHistory } from "../../../plan/history/replay.ts";
import { readLedger } from "../../../run/prepare/consistent-read.ts";
import { measureRecall } from "./measure-recall.ts";
import { runContext, type MigratorOptions } from "../../../run/run-context.ts";
import { distanceOf, isVectorIndex } from "../../../schema/table-index.ts";
import { recallConditions } from "./recall-conditions.ts";
import type { RecallChoice, IndexRecall } from "../../../run/computed.ts";

/** Throws ERR_USAGE if the target can't be searched. */
export async function verifyRecall(options: MigratorOptions, choice: RecallChoice): Promise<readonly IndexRecall[]> {
  const context = runContext(options);
  const { target, migrations: source, clock, signal } = context;
  const { rows, countRows, capabilities } = target;
  if (rows === undefined)
    throw new MigrateError("ERR_USAGE", {
      problem: `recall can't be measured on ${target.name}, because lance-migrate can't search its tables`,
    });
  const files = source.list();
  const { state } = await readLedger(context, files);
  const migrations = withStepsThatRan(await loadMigrations(source, files), state);
  const conditions = recallConditions(appliedActions(migrations, state, capabilities));
  const recalls: IndexRecall[] = [];
  for (const table of [...replayHistory(migrations, state, capabilities).keys()].toSorted()) {
    const { indexes = {}, deferred = [] } = (await target.describeTable(table, true))?.table ?? {};
    for (const [name, index] of Object.entries(indexes)) {
      if (index === null || !isVectorIndex(index) || deferred.includes(name)) continue;
      const own = conditions.find((one) => one.table === table && one.name === name)?.condition;
      const { k = own?.k ?? 10, sample = own?.sample ?? 200 } = choice;
      const column = { table, path: index.path, distance: distanceOf(index) };
      const measured = await measureRecall({ rows, countRows }, column, { k, sample, clock, signal });
      const minRecall = own?.k === k ? own.minRecall : undefined;
      recalls.push({ table, index: name, column: index.path, k, ...measured, minRecall });
    }
  }
  return recalls;
}

function appliedActions(migrations: readonly Migration[], state: LedgerState, able: Able) {
  const applied = historyOrder(migrations, state).filter(
    ({ version }) => state.migrations.get(version)?.status === "applied",
  );
  return applied.flatMap((migration) => compileMigration(migration, able)).map(({ action }) => action);
}
