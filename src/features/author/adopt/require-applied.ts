/** The condition of work that starts from the tables to which all migrations lead. */
import type { MigrateError } from "../../../errors/migrate-error.ts";
import { migrationsInDoubt } from "../../../ledger/state/ledger-state.ts";
import type { MigrationFile } from "../../../migrations/list-files.ts";
import type { loadMigrations } from "../../../migrations/source.ts";
import { checkMissing, checkNotReverting, checkUnchanged, pendingFiles } from "../../../plan/history/pending.ts";
import { withStepsThatRan } from "../../../plan/history/renumbered.ts";
import { checkConsistent } from "../../../run/lease/audited-ledger.ts";
import type { Ledger } from "../../../run/lease/with-lease.ts";
import type { RunContext } from "../../../run/run-context.ts";

/** The migrations with the steps that ran. Throws `refusal` if one is not applied, or may not be. */
export async function requireApplied(
  context: RunContext,
  state: Ledger["state"],
  loaded: Awaited<ReturnType<typeof loadMigrations>>,
  refusal: (pending: MigrationFile) => MigrateError,
): Promise<ReturnType<typeof withStepsThatRan>> {
  const { target, migrations: source, runner } = context;
  const files = source.list();
  const migrations = withStepsThatRan(loaded, state);
  await checkConsistent(context, state);
  checkNotReverting(state);
  checkMissing(files, state);
  const inDoubt = migrationsInDoubt(state, runner.run);
  const pending = pendingFiles(files, state)[0] ?? files.find(({ version }) => inDoubt.has(version));
  if (pending !== undefined) throw refusal(pending);
  checkUnchanged(migrations, state, target.capabilities);
  return migrations;
}
