/** Restores migrations whose own records are gone from running hashes that still cover them. Pure. */
import { problemIn } from "../../../errors/migrate-error.ts";
import { appliedHash } from "../../../ledger/state/applied-hash.ts";
import { agreesWithNewest } from "../../../ledger/audit/audit-applied.ts";
import { appliedIn, type LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../../ledger/state/fold-migration.ts";
import { byPlace, type LedgerRecord } from "../../../ledger/state/record.ts";
import { shortHash } from "../../../migrations/checksum.ts";
import type { Migration } from "../../../migrations/load.ts";
import type { Able } from "../../../plan/compile/compile.ts";
import { appliedFacts } from "../../../plan/history/record-facts.ts";
import { replayHistory } from "../../../plan/history/replay.ts";

export interface RestoredLedger {
  readonly state: LedgerState;
  /** The migrations of which only a hash shows that they are applied. */
  readonly lost: readonly Migration[];
  /** Whether the newest record agrees with `state`, or with the records alone, as after an interrupted repair. */
  readonly agrees: boolean;
}

/**
 * The ledger with all migrations that any of its running hashes covers. A hash can't be decoded, but it can be compared
 * with those of the first file, the first two files, and so on. A migration that was applied stays applied until the
 * ledger is rebuilt or something is rolled back, so only hashes from then on count.
 */
export function withLost(
  state: LedgerState,
  records: readonly LedgerRecord[],
  migrations: readonly Migration[],
  capabilities: Able,
): RestoredLedger {
  const applied = new Map(appliedIn(state).map((known) => [known.version, known]));
  const since = records
    .filter(({ event }) => ["rebuilt", "reverting", "reverted"].includes(event))
    .toSorted(byPlace)
    .at(-1);
  const counted = records.filter((record) => since === undefined || byPlace(record, since) >= 0);
  const said = new Set(counted.map(({ applied: hash }) => shortHash(hash)));
  let hash = appliedHash([]);
  let first: readonly Migration[] = [];
  for (const [index, migration] of migrations.entries()) {
    hash = hash.with([applied.get(migration.version) ?? migration]);
    if (said.has(shortHash(hash.value))) first = migrations.slice(0, index + 1);
  }
  const lost = first.filter(({ version }) => !applied.has(version));
  if (first.length - lost.length < applied.size)
    return { state: inPossibleOrder(state, migrations, capabilities), lost: [], agrees: agreesWithNewest(state) };
  const all = new Map(state.migrations);
  // A lost migration ran after those with lower numbers. Of equal orders, the lower number counts as the earlier one.
  let order = -1;
  for (const migration of first) {
    const known = state.migrations.get(migration.version);
    if (!applied.has(migration.version)) all.set(migration.version, found(migration, known, order, capabilities));
    order = Math.max(order, known?.order ?? order);
  }
  const byVersion = new Map([...all].toSorted(([one], [other]) => one - other));
  const inDoubt = new Set([...state.inDoubt].filter((version) => !lost.some((one) => one.version === version)));
  const restored = inPossibleOrder({ ...state, inDoubt, migrations: byVersion }, migrations, capabilities);
  return { state: restored, lost, agrees: agreesWithNewest(restored) || agreesWithNewest(state) };
}

/** Uses the order of the files if that of the records is impossible: an interrupted repair records some again. */
function inPossibleOrder(state: LedgerState, migrations: readonly Migration[], capabilities: Able): LedgerState {
  if (problemIn(() => replayHistory(migrations, state, capabilities)) === undefined) return state;
  const inOrder = [...state.migrations].map(([version, known], order) => [version, { ...known, order }] as const);
  return { ...state, migrations: new Map(inOrder) };
}

function found(
  migration: Migration,
  known: LedgerMigration | undefined,
  order: number,
  capabilities: Able,
): LedgerMigration {
  return {
    ...appliedFacts(migration, capabilities, known),
    status: "applied",
    order: known?.order ?? order,
    at: 0,
    by: "another run",
    detail: "found by the running hash",
  };
}
