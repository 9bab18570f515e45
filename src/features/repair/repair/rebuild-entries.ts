/** The records that rebuild a ledger: every migration that has run, and that these are all. Pure. */
import type { LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../../ledger/state/fold-migration.ts";
import type { LedgerEntry } from "../../../ledger/state/record.ts";
import { firstFacts, whenAndWho } from "../../../plan/history/record-facts.ts";
import type { HistoryPosition } from "../../../plan/history/position.ts";
import { midwayOf, type HistoryLine, type HistoryAction } from "../../../plan/history/timeline.ts";

/**
 * The records for tables that are at this position in history. They repeat what else the ledger knew of a migration. If
 * the user chose the position (`isChosen`), they leave out that the next action has begun, unless the tables show it.
 */
export function entriesFromTables(
  { actions }: HistoryLine,
  { done, isMidway }: HistoryPosition,
  state: LedgerState,
  isChosen: boolean,
): readonly LedgerEntry[] {
  const ran = actions.slice(0, done);
  const last = ran.filter(({ number, total }, index) => number === total || index === done - 1);
  const facts = last.map((action) => entryOf(action, state.migrations.get(action.migration.version)));
  // All tables were checked, including those of late calls.
  const looked = state.late.map(({ epoch }): LedgerEntry => ({ event: "looked", late: epoch }));
  return [...looked, ...(isMidway || !isChosen ? withBegun(facts, actions[done], state) : facts), { event: "rebuilt" }];
}

/** Repeats what the ledger knows of a next action that has begun: only the ledger has what it must put back. */
function withBegun(
  facts: readonly LedgerEntry[],
  next: HistoryAction | undefined,
  state: LedgerState,
): readonly LedgerEntry[] {
  if (next === undefined) return facts;
  const { migration, number, total } = next;
  const midway = midwayOf(state, migration, number);
  if (midway === undefined) return facts;
  const isFirst = number === 1;
  const entry: LedgerEntry = isFirst
    ? {
        event: "interrupted",
        ...firstFacts(migration, [], { step: 0, total }, state.migrations.get(migration.version)),
        detail: found,
      }
    : facts.at(-1)!;
  return [...(isFirst ? facts : facts.slice(0, -1)), { ...entry, midway }];
}

const found = "found in the tables";

function entryOf({ migration, place, number, total }: HistoryAction, known: LedgerMigration | undefined): LedgerEntry {
  const applied = number === total;
  const ran = applied ? migration.steps : migration.steps.slice(0, place.step);
  return {
    event: applied ? "applied" : "interrupted",
    ...firstFacts(migration, ran, { step: number, total }, known),
    ...whenAndWho(known),
    detail: found,
  };
}
