/** The ledger's table of a target that keeps one, and leases. */
import type { Lease } from "../../src/ledger/lease/lease.ts";
import { ledgerColumns } from "../../src/ledger/journal/rows-journal.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import type { RecordTable } from "../../src/targets/contract/ledger-store.ts";

export function recordsOf({ ledger }: Pick<Target, "ledger">, name: string): RecordTable {
  if (ledger.kind !== "rows") throw new TypeError("this target keeps its ledger in markers");
  return ledger.records({ name, columns: ledgerColumns, key: "key" });
}

/** A lease of epoch 1 that nobody takes over, and that records nothing. */
export const heldLease: Lease = {
  ledger: [],
  epoch: () => 1,
  record: async () => {},
  state: async () => {},
  check: async () => {},
  isSure: () => true,
  recordLate: async () => {},
  release: async () => {},
  abandon: () => {},
  defers: () => false,
};
