/** The journal that a target can keep. */
import type { Target } from "../targets/target.ts";
import type { Journal } from "./journal.ts";
import { markersJournal } from "./markers.ts";
import { ledgerColumns, rowsJournal } from "./rows.ts";

export function journalOf(target: Pick<Target, "ledger" | "listTables" | "capabilities">, ledger: string): Journal {
  const store = target.ledger;
  switch (store.kind) {
    case "rows":
      return rowsJournal(
        ledger,
        store.records({ name: ledger, columns: ledgerColumns, key: "key" }),
        target.capabilities.fences,
      );
    case "markers":
      return markersJournal(ledger, { names: target.listTables, create: store.create });
  }
}
