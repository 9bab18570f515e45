/** The records that mark a migration as reverted or as adopted, and the ledger's state after them. Pure. */
import type { LedgerMigration, LedgerState } from "../../ledger/state/fold.ts";
import type { LedgerEntry } from "../../ledger/state/record.ts";
import type { MigrationName } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import { compileMigration, type Describing } from "../../plan/compile/compile.ts";
import { repeatedFacts, firstFacts } from "../../plan/history/record-facts.ts";
import { entriesFromLedger } from "../../plan/history/ledger-entries.ts";

export interface Marking {
  readonly entries: readonly LedgerEntry[];
  readonly after: LedgerState;
}

/** Marks a migration as never run. It may be unknown to the ledger: a run can begin it and die before recording it. */
export function markReverted(state: LedgerState, { version, name }: MigrationName): Marking {
  const known = state.migrations.get(version);
  const unknown = { version, name, total: 0, checksum: "", steps: [], textHash: "", attempt: 1, duration: 0 };
  const facts = known === undefined ? unknown : repeatedFacts(known);
  const detail = "marked by migrate resolve; no table was changed";
  const reverted = { event: "reverted", ...facts, step: facts.total, tables: {}, detail } as const;
  const migrations = new Map([...state.migrations].filter(([one]) => one !== version));
  return { entries: [...lookedAt(state, version), reverted], after: { ...withoutDoubt(state, version), migrations } };
}

/** Marks a migration as if its current file had run and left the tables as they are. */
export function markAdopted(state: LedgerState, migration: Migration, describing: Describing): Marking {
  const { version } = migration;
  const known = state.migrations.get(version);
  const total = compileMigration(migration, describing).length;
  const facts = firstFacts(migration, migration.steps, { step: total, total }, undefined);
  const detail = "adopted by migrate resolve; it did not run";
  const last = Math.max(-1, ...[...state.migrations.values()].map(({ order }) => order));
  const order = known?.status === "applied" ? known.order : last + 1;
  const adopted: LedgerMigration = { ...facts, status: "applied", isBaselined: true, order, at: 0, by: "", detail };
  const migrations = new Map([...state.migrations, [version, adopted] as const].toSorted(([a], [b]) => a - b));
  const after = { ...withoutDoubt(state, version), migrations };
  // Only a rebuild of the whole ledger can replace the record of an applied migration. It keeps the migrations' order.
  const entries: readonly LedgerEntry[] =
    known?.status === "applied" ? entriesFromLedger(after) : [{ event: "baselined", ...facts, detail }];
  return { entries: [...lookedAt(state, version), ...entries], after };
}

function withoutDoubt(state: LedgerState, version: number): LedgerState {
  const { holder, late, doubtful } = state;
  return {
    ...state,
    holder: holder?.next === version ? { ...holder, next: undefined } : holder,
    late: late.filter((call) => call.version !== version),
    doubtful: new Set([...doubtful].filter((one) => one !== version)),
  };
}

function lookedAt({ late }: LedgerState, version: number): readonly LedgerEntry[] {
  return late
    .filter((call) => call.version === version)
    .map(({ epoch }): LedgerEntry => ({ event: "looked", late: epoch }));
}
