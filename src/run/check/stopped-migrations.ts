/** Which migrations that stopped in the middle of an action can be rolled back from there. */
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { Migration } from "../../migrations/load.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { actionsRun } from "../../plan/history/migration-run.ts";
import type { RunContext } from "../run-context.ts";

/** Their versions. Evaluates only files of migrations that stopped in the middle of an action. */
export async function stoppedMigrations(
  { migrations: source, target: { capabilities } }: Pick<RunContext, "migrations" | "target">,
  files: readonly MigrationFile[],
  state: LedgerState,
): Promise<ReadonlySet<number>> {
  const isOver = ({ version }: MigrationFile) =>
    state.holder?.next !== version && !state.late.some((call) => call.version === version);
  const failed = files.filter((file) => {
    const known = state.migrations.get(file.version);
    return known?.midway !== undefined && isOver(file);
  });
  const isStopped = (migration: Migration) =>
    actionsRun(migration, state.migrations.get(migration.version)!, capabilities).stopped.length > 0;
  return new Set((await loadMigrations(source, failed)).filter(isStopped).map(({ version }) => version));
}
