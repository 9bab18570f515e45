import type { LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../../ledger/state/fold-migration.ts";
import type { MigrationFacts } from "../../../ledger/state/record.ts";

/** The state once these migrations are marked as applied, after all that have run. */
export function withMarked(
  state: LedgerState,
  marked: readonly (MigrationFacts & Pick<LedgerMigration, "detail">)[],
): LedgerState {
  const next = Math.max(-1, ...[...state.migrations.values()].map(({ order }) => order)) + 1;
  const migrations = new Map(state.migrations);
  for (const [index, facts] of marked.entries()) {
    const known = migrations.get(facts.version);
    const order = known?.status === "applied" ? known.order : next + index;
    migrations.set(facts.version, { ...facts, status: "applied", isBaselined: true, order, at: 0, by: "" });
  }
  return { ...state, migrations: new Map([...migrations].toSorted(([one], [other]) => one - other)) };
}
