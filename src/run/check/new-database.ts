import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { RunContext } from "../run-context.ts";

/** Where the database is, if it has no tables but the ledger's, and no run before this one has taken the lease. */
export async function placeIfNew(
  { target, ledger }: Pick<RunContext, "target" | "ledger">,
  state: LedgerState,
): Promise<string | undefined> {
  if (state.epoch > 1 || state.migrations.size > 0) return undefined;
  const isLedgers = (table: string) => table === ledger || table.startsWith(`${ledger}.`);
  return (await target.listTables()).every(isLedgers) ? target.place : undefined;
}
