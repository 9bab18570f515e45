/** Finds the newest applied migration that can't be rolled back. Pure. */
import { absentFrom, isMigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Able } from "../../plan/compile/compile.ts";
import { reversalOf } from "../../plan/history/migration-run.ts";
import { replayEach } from "../../plan/history/replay.ts";
import type { Database } from "../../schema/table.ts";
import type { NoReturn, ReportedVersion } from "./report-document.ts";

/**
 * Undefined if all can be rolled back, unless rows block it. `migrations`: with the steps that ran. `kept`: the old versions
 * of tables that exist. Throws ERR_STEP_IMPOSSIBLE if the ledger does not fit the migrations.
 */
export function noReturnOf(
  migrations: readonly Migration[],
  state: LedgerState,
  able: Able,
  kept: readonly ReportedVersion[],
): NoReturn | undefined {
  let newest: (NoReturn & Pick<LedgerMigration, "order">) | undefined;
  const find = (known: LedgerMigration, why: string | undefined) => {
    const { version, name, order } = known;
    if (why !== undefined && order > (newest?.order ?? -1)) newest = { version, name, why, order };
  };
  const here = new Set(migrations.map(({ version }) => version));
  for (const known of state.migrations.values())
    if (known.status === "applied" && !here.has(known.version)) find(known, absentFrom({}));
  replayEach(migrations, state, able, (migration, before) => {
    const known = state.migrations.get(migration.version)!;
    if (known.status === "applied" && known.reversal === undefined)
      find(known, whyNoReturn(migration, known, { before, able, kept }));
  });
  return newest && { version: newest.version, name: newest.name, why: newest.why };
}

interface RollbackInput {
  readonly before: Database;
  readonly able: Able;
  readonly kept: readonly ReportedVersion[];
}

function whyNoReturn(
  migration: Migration,
  known: LedgerMigration,
  { before, able, kept }: RollbackInput,
): string | undefined {
  const name = formatMigration(known);
  const isKept = (version: number) => kept.some((one) => one.migration === name && one.version === version);
  try {
    for (const { action } of reversalOf(migration, known, before, able).actions)
      if (action.kind === "restoreTable" && !isKept(action.version))
        return `its rollback restores version ${action.version} of ${action.table}, which is not kept`;
    return undefined;
  } catch (error) {
    if (isMigrateError(error, "ERR_IRREVERSIBLE")) return error.details.problem;
    throw error;
  }
}
