/**
 * The markers journal, for a service that can list and create tables but can't read rows. Each record is a small table,
 * and only its name is read back. Creating a table is "add if absent", and one list reads the whole ledger.
 */
import type { Clock } from "../../time/clock.ts";
import { firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { sha256, shortHash } from "../../migrations/checksum.ts";
import { patience, pauseAfter, retry } from "../../targets/contract/retry.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { CreateMarker } from "../../targets/contract/ledger-store.ts";
import { agreesWithNewest } from "../audit/audit-applied.ts";
import { foldLedger } from "../state/fold.ts";
import { otherForm, withoutAnswer, type Journal } from "./journal.ts";
import { epochName, markerName, markerPlace, parseMarkerName, type MarkerPlace } from "./marker-name.ts";
import { byPlace, type LedgerRecord, type RecordId } from "../state/record.ts";
import { ledgerColumns, toRow } from "./rows-journal.ts";

export interface MarkerStore {
  /** The names of all tables. */
  readonly names: () => Promise<readonly string[]>;
  readonly create: CreateMarker;
  /** Classifies an error of `names` or `create`. */
  readonly verdict: Target["verdict"];
  readonly clock: Pick<Clock, "sleep" | "random">;
}

export function markersJournal(ledger: string, { names, create, verdict, clock }: MarkerStore): Journal {
  /** Who wrote the markers that this run has created. They are remembered here because a marker doesn't show it. */
  const own = new Map<string, Pick<LedgerRecord, "by" | "run">>();

  /** Tables that were listed or created here before. A list that lacks a marker among them is torn or stale. */
  let seen: string[] = [];
  const list = async (): Promise<readonly string[]> => {
    for (let tries = 1; ; tries++) {
      const all = await names();
      const there = new Set(seen.length === 0 ? [] : all);
      const absent = seen.filter((name) => !there.has(name) && markerPlace(ledger, name) !== undefined);
      seen = absent.length === 0 ? [...all] : [...new Set([...seen, ...all])];
      if (absent.length === 0) return all;
      if (tries === patience.staleList.tries) {
        const created = absent.find((name) => own.has(name));
        const why = created === undefined ? "which it showed before" : "which it has just created";
        const problem = `the service's list of tables lacks ${created ?? absent[0]!}, ${why}; see migrate doctor`;
        // A run that has created markers may have changed tables too.
        throw new MigrateError(created === undefined ? "ERR_LEDGER_UNREADABLE" : "ERR_LEDGER_UNWRITABLE", {
          ledger,
          problem,
        });
      }
      await clock.sleep(pauseAfter(tries, patience.staleList));
    }
  };

  /** The records of markers. A waiting run reads the same names again and again. */
  const known = new Map<string, LedgerRecord>();
  const recordsIn = (all: readonly string[]): readonly LedgerRecord[] =>
    all.flatMap((name) => {
      const record = known.get(name) ?? parseMarkerName(ledger, name);
      if (record === undefined) return [];
      known.set(name, record);
      const mine = own.get(name);
      return [mine === undefined ? record : { ...record, ...mine }];
    });

  /**
   * The markers that determine what `head` returns. If the newest one releases its epoch and no call came late, there is
   * no lease, and the others do not matter: parsing and folding ten thousand of them takes longer than the request. Their
   * positions are not kept, because memory that stays in use must be moved.
   */
  const decisive = (all: readonly string[]): readonly string[] => {
    let newest: (RecordId & Pick<MarkerPlace, "event">) | undefined;
    let last = "";
    for (const name of all) {
      const place = known.get(name) ?? markerPlace(ledger, name);
      if (place === undefined) continue;
      if (place.event === "late") return all;
      if (newest !== undefined && byPlace(place, newest) < 0) continue;
      newest = place;
      last = name;
    }
    return newest?.event === "released" ? [last] : all;
  };

  /**
   * Whether this call created the marker; false if one of that name exists. After a failed create, the list shows
   * whether the marker exists. If it does not, the create may be sent again, which the name makes safe.
   */
  const write = async (name: string, record: LedgerRecord): Promise<boolean> => {
    let looks = false;
    const attempt = async () => {
      try {
        const made = await create(name, ledgerColumns, toRow(record));
        seen.push(name);
        return made;
      } catch (error) {
        // A throttled create was not begun. If the list is read each time, a service that fails at regular intervals may
        // fail at each create.
        looks = !looks && verdict(error).kind !== "throttled";
        if (looks && (await list()).includes(name)) return false;
        throw error;
      }
    };
    try {
      return await retry(attempt, verdict, clock);
    } catch (cause) {
      if (isMigrateError(cause) && cause.code !== "ERR_LEDGER_UNREADABLE") throw cause;
      throw new MigrateError("ERR_LEDGER_UNWRITABLE", { ledger, problem: firstLine(cause) }, { cause });
    }
  };

  return {
    name: ledger,
    async head() {
      const { head, holder, late } = foldLedger(recordsIn(decisive(await list())));
      // A waiting run may find several new records at once, and the newest need not be the one that states the lease.
      return head && { ...withoutAnswer(head, late.length > 0), lease: holder?.lease };
    },
    async isNewest(place) {
      return recordsIn(await list()).every((other) => byPlace(other, place) <= 0);
    },
    async read() {
      // A torn list contradicts itself, and the next list has more records. A damaged ledger stays the same.
      for (let before = -1; ;) {
        const all = await list();
        const records = Object.freeze(recordsIn(all));
        // Markers beside a ledger in a table would be a second ledger, in which nothing is applied.
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
      if (won) own.set(name, { by, run });
      return won;
    },
    async add(records) {
      for (const record of records) {
        const { by, run, number } = record;
        const name = markerName(ledger, record);
        // The name of an epoch's first record differs between runs. So if a service let two runs take the same epoch, at
        // least one of them finds the other's record. Every run ignores this part of the name.
        const marker = number === 1 ? `${name}.i${shortHash(sha256(run))}` : name;
        own.set(marker, { by, run });
        // An existing marker is this run's own, whose answer was lost.
        await write(marker, record);
      }
    },
    compact: async () => {},
    // The name that takes an epoch is the same for every run, so a reference to it would prove nothing.
    hashOf: (record) => (record.event === "taken" ? "" : sha256(markerName(ledger, record))),
  };
}
