/** The records that mark a migration as reverted or as adopted, and the ledger's state after them. Pure. */
import type { LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { LedgerEntry } from "../../../ledger/state/record.ts";
import type { MigrationName } from "../../../migrations/file-name.ts";
import type { Migration } from "../../../migrations/load.ts";
import type { Describing } from "../../../plan/compile/compile.ts";
import { appliedFacts, entriesFromLedger, repeatedFacts } from "../../../plan/history/record-facts.ts";
import { withMarked } from "./marked.ts";

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
export function markAdopted(state: LedgerState, migration: Migration, capabilities: Describing): Marking {
  const { version } = migration;
  const known = state.migrations.get(version);
  const facts = { ...appliedFacts(migration, capabilities), detail: "adopted by migrate resolve; it did not run" };
  const after = withMarked(withoutDoubt(state, version), [facts]);
  // Only a rebuild of the whole ledger can replace the record of an applied migration. It keeps the migrations' order.
  const entries: readonly LedgerEntry[] =
    known?.status === "applied" ? entriesFromLedger(after) : [{ event: "baselined", ...facts }];
  return { entries: [...lookedAt(state, version), ...entries], after };
}

function withoutDoubt(state: LedgerState, version: number): LedgerState {
  const { holder, late, inDoubt, group } = state;
  const others = (versions: ReadonlySet<number>) => new Set([...versions].filter((one) => one !== version));
  const next = holder?.next === version ? [...others(holder.group)][0] : holder?.next;
  return {
    ...state,
    holder: holder && { ...holder, next, group: others(holder.group) },
    late: late.filter((call) => call.version !== version),
    inDoubt: others(inDoubt),
    group: others(group),
  };
}

function lookedAt({ late }: LedgerState, version: number): readonly LedgerEntry[] {
  return late
    .filter((call) => call.version === version)
    .map(({ epoch }): LedgerEntry => ({ event: "looked", late: epoch }));
}
