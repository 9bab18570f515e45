/** Loads migrations whose text has changed since they ran. */
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { matchesHash } from "../../migrations/checksum.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { Migration } from "../../migrations/load.ts";
import { loadMigrations, type MigrationSource } from "../../migrations/source.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";

/** Each with the steps that ran, if its file exports them in `ran`. */
export async function loadChanged(
  source: MigrationSource,
  files: readonly MigrationFile[],
  state: LedgerState,
): Promise<readonly Migration[]> {
  const changed = files.filter((file) => isChanged(file, state));
  return withStepsThatRan(await loadMigrations(source, changed), state);
}

function isChanged({ version, textHash }: MigrationFile, { migrations }: LedgerState): boolean {
  const known = migrations.get(version);
  return known !== undefined && !matchesHash(textHash, known.textHash);
}
