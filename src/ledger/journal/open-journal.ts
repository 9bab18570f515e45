/** Selects the journal that a target supports. */
import type { Target } from "../../targets/contract/target.ts";
import { otherForm, type Journal } from "./journal.ts";
import { systemClock, type Clock } from "../../time/clock.ts";
import { epochName } from "./marker-name.ts";
import { markersJournal } from "./markers-journal.ts";
import { ledgerColumns, rowsJournal } from "./rows-journal.ts";

export function journalOf(
  target: Pick<Target, "ledger" | "listTables" | "capabilities" | "verdict">,
  ledger: string,
  clock: Clock = systemClock,
): Journal {
  const { ledger: store, listTables: names, verdict } = target;
  switch (store.kind) {
    case "rows": {
      const table = store.records({ name: ledger, columns: ledgerColumns, key: "key" });
      const journal = rowsJournal(ledger, table);
      return {
        ...journal,
        async read() {
          const records = await journal.read();
          if (records.length === 0 && (await names()).includes(epochName(ledger, 1)))
            throw otherForm(ledger, "in markers, as the dialect service keeps it");
          return records;
        },
      };
    }
    case "markers":
      return markersJournal(ledger, { names, create: store.create, verdict, clock });
  }
}
