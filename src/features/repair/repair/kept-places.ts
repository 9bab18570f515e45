/**
 * The positions that contradict no record about a table that is as the ledger records. Columns can't show whether an action
 * on rows has run: without the record, a table that was brought back would take the others with it. Pure.
 */
import { tablesOfAction } from "../../../actions/apply-action.ts";
import { isDone, migrationsInDoubt, type LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { FittingPlaces, HistoryPosition } from "../../../plan/history/position.ts";
import type { HistoryAction } from "../../../plan/history/timeline.ts";

/** `differing`: the tables that are not as the ledger records. `run`: what it works on itself is not in doubt to it. */
export function keptPlaces(
  { row: { actions }, fits }: Pick<FittingPlaces, "row" | "fits">,
  differing: readonly string[],
  state: LedgerState,
  run: string,
): readonly HistoryPosition[] {
  const inDoubt = migrationsInDoubt(state, run);
  const isKnown = ({ action, begun, migration: { version } }: HistoryAction) =>
    begun === undefined &&
    !inDoubt.has(version) &&
    // How far it is undone, the columns must show.
    state.migrations.get(version)?.reversal === undefined &&
    !tablesOfAction(action).some((table) => differing.includes(table));
  const isRecorded = ({ migration, number }: HistoryAction) =>
    isDone(state.migrations.get(migration.version), { action: number, isBack: false });
  return fits.filter(({ done }) => actions.every((one, index) => !isKnown(one) || isRecorded(one) === index < done));
}
