/** Which migrations that are half done can be rolled back from there. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import { isHalfDone, type LedgerState } from "../../ledger/state/ledger-state.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { actionsRun, reversalOf } from "../../plan/history/migration-run.ts";
import { checkUnchanged } from "../../plan/history/pending.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import { replayEach } from "../../plan/history/replay.ts";
import type { RunContext } from "../run-context.ts";

export interface WaysBack {
  /** Those that stopped in the middle of an action and can be rolled back from there. */
  readonly stopped: ReadonlySet<number>;
  /** Of half-done ones, why they can't be rolled back, as text. */
  readonly irreversible: ReadonlyMap<number, string>;
}

/** By their versions. Evaluates files only if a migration is half done: those of all that have run. */
export async function waysBack(
  { migrations: source, target: { capabilities } }: Pick<RunContext, "migrations" | "target">,
  files: readonly MigrationFile[],
  state: LedgerState,
): Promise<WaysBack> {
  const isOver = (version: number) =>
    state.holder?.next !== version && !state.late.some((call) => call.version === version);
  const failed = [...state.migrations.values()].filter(
    (known) => isHalfDone(known) && known.reversal === undefined && isOver(known.version),
  );
  const stopped = new Set<number>();
  const irreversible = new Map<number, string>();
  if (failed.length === 0) return { stopped, irreversible };
  const ran = files.filter(({ version }) => state.migrations.has(version));
  const migrations = withStepsThatRan(await loadMigrations(source, ran), state);
  checkUnchanged(migrations, state, capabilities);
  replayEach(migrations, state, capabilities, (migration, before) => {
    const known = failed.find((one) => one.version === migration.version);
    if (known === undefined) return;
    const isStopped = actionsRun(migration, known, before, capabilities).stopped.length > 0;
    if (isStopped) stopped.add(known.version);
    if (known.midway !== undefined && !isStopped) return;
    const why = whyIrreversible(migration, known, before, capabilities);
    if (why !== undefined) irreversible.set(known.version, why);
  });
  return { stopped, irreversible };
}

function whyIrreversible(...rollback: Parameters<typeof reversalOf>): string | undefined {
  try {
    reversalOf(...rollback);
    return undefined;
  } catch (error) {
    if (isMigrateError(error, "ERR_IRREVERSIBLE")) return error.details.problem;
    throw error;
  }
}
