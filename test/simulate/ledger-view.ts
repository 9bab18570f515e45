/** The ledger of a simulation as it is in the tables, whichever form it has. */
import { systemClock } from "../../src/time/clock.ts";
import { auditLedger } from "../../src/ledger/audit/audit.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../src/ledger/state/ledger-state.ts";
import type { Journal } from "../../src/ledger/journal/journal.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { memoryTarget } from "./target/memory-target.ts";
import type { Model } from "./target/carry.ts";
import type { MemoryTables } from "./target/memory-table.ts";
import type { Row } from "../../src/wire/rows/ipc-rows.ts";
import { ledger } from "./scenario.ts";

/** All rows of records, in whatever order. */
export function ledgerRows(tables: MemoryTables): readonly Row[] {
  const table = tables.get(ledger);
  if (table !== undefined) return table.rows;
  return tables.names().flatMap((name) => (name.startsWith(`${ledger}.`) ? tables.get(name)!.rows : []));
}

/** The run that has taken the newest epoch, whether it has ended it or not. */
export function ownerOf(tables: MemoryTables): string | undefined {
  let newest: Row | undefined;
  for (const row of ledgerRows(tables))
    if (row.number === 0 && (newest === undefined || row.epoch! > newest.epoch!)) newest = row;
  return newest?.run as string | undefined;
}

function journalIn(tables: MemoryTables, model: Model): Journal {
  return journalOf(memoryTarget({ name: model, model, tables }), ledger, systemClock);
}

export async function ledgerState(tables: MemoryTables, model: Model): Promise<LedgerState> {
  return foldLedger(await journalIn(tables, model).read());
}

/** What an audit of the ledger finds. */
export async function ledgerFindings(tables: MemoryTables, model: Model): Promise<readonly string[]> {
  const journal = journalIn(tables, model);
  return auditLedger(await journal.read(), journal.hashOf).map(({ sentence }) => sentence);
}
