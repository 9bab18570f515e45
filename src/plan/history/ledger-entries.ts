/** The current state of a ledger, as records. Pure. */
import type { LedgerState } from "../../ledger/state/fold.ts";
import type { LedgerEntry } from "../../ledger/state/record.ts";
import { repeatedFacts } from "./record-facts.ts";

/** The records that rebuild a ledger from its own current state. They do not state which migrations are in doubt. */
export function entriesFromLedger({ migrations }: LedgerState): readonly LedgerEntry[] {
  const said = [...migrations.values()].toSorted((one, other) => one.order - other.order);
  const facts = said.flatMap((known): readonly LedgerEntry[] => {
    const { reversal, midway, detail = "as the ledger said" } = known;
    const again = repeatedFacts(known);
    return [
      {
        event: known.status !== "applied" ? "interrupted" : known.isBaselined ? "baselined" : "applied",
        ...again,
        midway,
        detail,
      },
      ...(reversal === undefined ? [] : [{ event: "reverting", ...again, ...reversal } as const]),
    ];
  });
  return [...facts, { event: "rebuilt" }];
}
