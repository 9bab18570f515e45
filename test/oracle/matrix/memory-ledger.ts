/** A ledger in memory, for one run at a time: the matrix judges what becomes of tables, and keeping records takes longer. */
import type { LedgerStore, RecordTable } from "../../../src/targets/contract/ledger-store.ts";
import { lastRow, type Row } from "../../../src/wire/rows/ipc-rows.ts";

export function memoryLedger(): LedgerStore {
  const rows: Row[] = [];
  const records: RecordTable = {
    create: async () => {},
    all: async () => (rows.length === 0 ? undefined : rows),
    // Whether one matches only saves a read of all.
    async last(order) {
      const row = lastRow(rows, order);
      return row && { row, matched: true };
    },
    count: async () => 0,
    async insertIfAbsent(row) {
      if (rows.some(({ key }) => key === row["key"])) return false;
      rows.push(row);
      return true;
    },
    async insert(more) {
      rows.push(...more);
    },
    compact: async () => {},
  };
  return { kind: "rows", records: () => records };
}
