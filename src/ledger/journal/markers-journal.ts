/**
 * The markers journal, for a service that can list tables and create them, and can't read a row: each record is a small
 * table, and its name is what is read back. Creating a table is «add if absent», one list reads the whole ledger.
 */
import type { Clock } from "../../time/clock.ts";
import { firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { sha256 } from "../../migrations/checksum.ts";
import { retry } from "../../targets/contract/retry.ts";
import type { CreateMarker, Target } from "../../targets/contract/target.ts";
import { agreesWithNewest } from "../audit/audit-applied.ts";
import { foldLedger } from "../state/fold.ts";
import { otherForm, withoutAnswer, type Journal } from "./journal.ts";
import { epochName, markerName, parseMarkerName } from "./marker-name.ts";
import { byPlace, type LedgerRecord } from "../state/record.ts";
import { ledgerColumns, toRow } from "./rows-journal.ts";

export interface MarkerStore {
  /** The names of all tables. */
  readonly names: () => Promise<readonly string[]>;
  readonly create: CreateMarker;
  /** What an error of either means. */
  readonly verdict: Target["verdict"];
  readonly clock: Pick<Clock, "sleep" | "random">;
}

const mostLists = 6;
const firstPause = 25;

export function markersJournal(ledger: string, { names, create, verdict, clock }: MarkerStore): Journal {
  /** Who took an epoch can't be read, so a run remembers which ones it was told are its own. */
  const own = new Map<number, Pick<LedgerRecord, "by" | "run">>();

  /** What each name says: whoever waits reads the same names again and again. */
  const known = new Map<string, LedgerRecord | undefined>();
  const recordOf = (name: string): LedgerRecord | undefined => {
    if (!known.has(name)) known.set(name, parseMarkerName(ledger, name));
    return known.get(name);
  };

  /** What was listed or made here before: a list without all of it is torn or stale. */
  const seen = new Set<string>();
  const list = async (): Promise<readonly string[]> => {
    for (let tries = 1; ; tries++) {
      const all = await names();
      const there = new Set(all);
      const absent = [...seen].find((name) => !there.has(name));
      for (const name of all) if (recordOf(name) !== undefined) seen.add(name);
      if (absent === undefined) return all;
      if (tries === mostLists) {
        const problem = `the service's list of tables lacks ${absent}, which it showed before or has just created; see migrate doctor`;
        throw new MigrateError("ERR_LEDGER_UNREADABLE", { ledger, problem });
      }
      await clock.sleep(firstPause * 2 ** tries);
    }
  };

  const recordsIn = (all: readonly string[]): readonly LedgerRecord[] =>
    all.flatMap((name) => {
      const record = recordOf(name);
      return record === undefined ? [] : [{ ...record, ...own.get(record.epoch) }];
    });

  /**
   * Whether the marker was made by this call; false when there is one of that name. A create without an answer is looked
   * for in the list, and where it is not, it is sent again, which the name makes safe.
   */
  const write = async (name: string, record: LedgerRecord): Promise<boolean> => {
    const attempt = async () => {
      try {
        const made = await create(name, ledgerColumns, toRow(record));
        seen.add(name);
        return made;
      } catch (error) {
        if ((await list()).includes(name)) return false;
        throw error;
      }
    };
    try {
      return await retry(attempt, verdict, clock);
    } catch (cause) {
      if (isMigrateError(cause)) throw cause;
      throw new MigrateError("ERR_LEDGER_UNWRITABLE", { ledger, problem: firstLine(cause) }, { cause });
    }
  };

  return {
    name: ledger,
    async head() {
      const { head, holder, late } = foldLedger(recordsIn(await list()));
      // Whoever waits may see the newest of many at once, and the lease stands on another.
      return head && { ...withoutAnswer(head, late.length > 0), lease: holder?.lease };
    },
    async isNewest(place) {
      return recordsIn(await list()).every((other) => byPlace(other, place) <= 0);
    },
    async read() {
      // A torn list contradicts itself, and the next one has more records; a damaged ledger stays as it is.
      for (let before = -1; ;) {
        const all = await list();
        const records = recordsIn(all);
        // Both forms together are two ledgers, of which each says that nothing is applied.
        if (records.length === 0 && all.includes(ledger))
          throw otherForm(ledger, "in a table, as the dialect namespace keeps it");
        if (records.length === before || agreesWithNewest(foldLedger(records))) return records;
        before = records.length;
      }
    },
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
    // The name that takes an epoch is the same for everyone, so a reference to it would say nothing.
    hashOf: (record) => (record.event === "taken" ? "" : sha256(markerName(ledger, record))),
  };
}
