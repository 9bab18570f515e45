/**
 * The markers journal, for a service that can list tables and create them, and can't read a row: each record is a small
 * table, and its name is what is read back. Creating a table is «add if absent», one list reads the whole ledger.
 */
import { firstLine, isMigrateError, MigrateError } from "../errors.ts";
import { sha256 } from "../migrations/checksum.ts";
import type { CreateMarker } from "../targets/target.ts";
import { foldLedger } from "./fold.ts";
import { withoutAnswer, type Journal } from "./journal.ts";
import { epochName, markerName, parseMarkerName } from "./marker-name.ts";
import type { LedgerRecord } from "./record.ts";
import { ledgerColumns, toRow } from "./rows.ts";

export interface MarkerStore {
  /** The names of all tables. */
  readonly names: () => Promise<readonly string[]>;
  readonly create: CreateMarker;
}

/** A create without an answer is looked for in the list; where it is not, it is sent again, which the name makes safe. */
const mostTries = 4;

export function markersJournal(ledger: string, { names, create }: MarkerStore): Journal {
  /** Who took an epoch can't be read, so a run remembers which ones it was told are its own. */
  const own = new Map<number, Pick<LedgerRecord, "by" | "run">>();

  const read = async (): Promise<readonly LedgerRecord[]> =>
    (await names()).flatMap((name) => {
      const record = parseMarkerName(ledger, name);
      return record === undefined ? [] : [{ ...record, ...own.get(record.epoch) }];
    });

  /** Whether the marker was made by this call; false when there is one of that name. Throws when nobody can tell. */
  const write = async (name: string, record: LedgerRecord): Promise<boolean> => {
    for (let tries = 1; ; tries++) {
      try {
        return await create(name, ledgerColumns, toRow(record));
      } catch (cause) {
        if ((await names()).includes(name)) return false;
        if (tries < mostTries) continue;
        if (isMigrateError(cause)) throw cause;
        throw new MigrateError("ERR_LEDGER_UNWRITABLE", { ledger, problem: firstLine(cause) }, { cause });
      }
    }
  };

  return {
    name: ledger,
    async head() {
      const { head, late } = foldLedger(await read());
      return head && withoutAnswer(head, late.length > 0);
    },
    read,
    async take(record) {
      const { by, run, epoch } = record;
      const name = epochName(ledger, epoch);
      const won = await write(name, record);
      // Once in a ledger's life: a service that lets a second create win would give the lease to everyone.
      if (won && epoch === 1 && (await write(name, record))) {
        const problem = "the service lets a second create of the same table win, so nobody can hold a lease there";
        throw new MigrateError("ERR_LEDGER_UNWRITABLE", { ledger, problem });
      }
      if (won) own.set(epoch, { by, run });
      return won;
    },
    async add(records) {
      // A marker that is there is our own, whose answer was lost: nobody else writes in this epoch.
      for (const record of records) await write(markerName(ledger, record), record);
    },
    hashOf: (record) => sha256(markerName(ledger, record)),
  };
}
