/** Which migrations that stopped in the middle of an action can be rolled back from there. */
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { actionsRun } from "../../plan/history/migration-run.ts";
import { checkUnchanged } from "../../plan/history/pending.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import { replayEach } from "../../plan/history/replay.ts";
import type { RunContext } from "../run-context.ts";

/** Their versions. Evaluates files only if one has stopped in the middle of an action: those of all that have run. */
export async function stoppedMigrations(
  { migrations: source, target: { capabilities } }: Pick<RunContext, "migrations" | "target">,
  files: readonly MigrationFile[],
  state: LedgerState,
): Promise<ReadonlySet<number>> {
  const isOver = (version: number) =>
    state.holder?.next !== version && !state.late.some((call) => call.version === version);
  const failed = [...state.migrations.values()].filter(
    ({ version, midway, reversal }) => midway !== undefined && reversal === undefined && isOver(version),
  );
  const stopped = new Set<number>();
  if (failed.length === 0) return stopped;
  const ran = files.filter(({ version }) => state.migrations.has(version));
  const migrations = withStepsThatRan(await loadMigrations(source, ran), state);
  checkUnchanged(migrations, state, capabilities);
  replayEach(migrations, state, capabilities, (migration, before) => {
    const known = failed.find((one) => one.version === migration.version);
    if (known !== undefined && actionsRun(migration, known, before, capabilities).stopped.length > 0)
      stopped.add(known.version);
  });
  return stopped;
}
