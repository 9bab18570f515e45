/** The ledger's table of a target that keeps one. */
import { ledgerColumns } from "../../src/ledger/journal/rows-journal.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import type { RecordTable } from "../../src/targets/contract/ledger-store.ts";

export function recordsOf({ ledger }: Pick<Target, "ledger">, name: string): RecordTable {
  if (ledger.kind !== "rows") throw new TypeError("this target keeps its ledger in markers");
  return ledger.records({ name, columns: ledgerColumns, key: "key" });
}
