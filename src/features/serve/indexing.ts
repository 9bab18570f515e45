/**
 * Brings the indexes of tables up to date in the background: rows that are written, or that a merge moves to other files,
 * are in no index at first. At most one table at a time, and no request waits for it (docs/service.md, "Indexes").
 */
import type { TableLock, Locks } from "./tables/table-locks.ts";
import type { Indexer } from "./work/indexer.ts";
import type { CoverOutcome } from "./work/cover.ts";

export interface IndexingOptions {
  readonly indexer: Indexer;
  readonly locks: Pick<Locks, "letIn">;
  /** Milliseconds without writes to a table after which it is looked at. */
  readonly indexAfter: number;
  /** Gets what an operator should know. */
  readonly note: (line: string) => void;
}

export interface Indexing {
  /** A request has written to these tables. */
  written(locks: readonly TableLock[]): void;
  /** A client has asked about the indexes of a table, and may wait for them. */
  asked(table: string): void;
  close(): Promise<void>;
}

interface TableState {
  /** When it was first and last written to since it was looked at; undefined if it was not. */
  noticed: { readonly first: number; readonly last: number } | undefined;
  /** When its indexes were last brought up to date, and how long that took. */
  ended: number;
  took: number;
  notBefore: number;
  failures: number;
  /** How often in a row changes of the table have ended the work. */
  stops: number;
}

/** A table that is written to all the time is looked at after this many times `indexAfter`. */
const mostPatience = 12;
/** Milliseconds; no pause between two tries is longer. */
const longestPause = 24 * 3_600_000;
/** Milliseconds; the pause after a failure. It doubles with each further one, as that of `indexAfter` after a conflict does. */
const pauseAfterFailure = 60_000;
/** The pause after work that changes have ended again and again is this many times as long as the work was. */
const mostStops = 10;
/** How many times in a row others' commits must come first before the log states it. */
const conflictsToNote = 5;

export function createIndexing({ indexer, locks, indexAfter, note }: IndexingOptions): Indexing {
  const tables = new Map<string, TableState>();
  let atWork: { readonly ended: Promise<void>; readonly stop: () => void } | undefined;
  let isClosed = false;

  const notice = (table: string, hasWritten: boolean) => {
    const now = performance.now();
    const state = tables.get(table) ?? { noticed: undefined, ended: 0, took: 0, notBefore: 0, failures: 0, stops: 0 };
    const { first = now, last = now } = state.noticed ?? {};
    state.noticed = { first, last: hasWritten ? now : last };
    tables.set(table, state);
  };

  const look = () => {
    if (atWork !== undefined || isClosed) return;
    const now = performance.now();
    for (const [table, state] of tables) {
      if (!isDue(state, now, indexAfter)) continue;
      // Behind the others, which come first the next time.
      tables.delete(table);
      tables.set(table, state);
      return begin(table, state);
    }
  };

  const begin = (table: string, state: TableState) => {
    const began = performance.now();
    let isStopped = false;
    const stop = () => {
      isStopped = true;
      covering?.stop();
    };
    const leave = locks.letIn(table, stop);
    if (leave === undefined) return void (state.notBefore = began + indexAfter);
    const before = state.noticed;
    state.noticed = undefined;
    let covering: ReturnType<Indexer["cover"]> | undefined;
    try {
      covering = indexer.cover(table, leastUncovered(state, began));
    } catch (error) {
      // No process could be started.
      covering = { outcome: Promise.resolve({ reason: String(error), isConflict: false }), stop: () => {} };
    }
    const ended = covering.outcome.then((outcome) => {
      atWork = undefined;
      leave();
      const now = performance.now();
      if (isStopped) {
        // What is stopped again and again must not keep a processor busy.
        state.stops++;
        state.notBefore = now + Math.max(indexAfter, now - began) * Math.min(mostStops, 2 ** (state.stops - 1));
        notice(table, true);
        return look();
      }
      if (outcome === "gone") {
        tables.delete(table);
        return look();
      }
      if (!settle(state, outcome, { began, now, indexAfter })) state.noticed ??= before;
      const isNews = "reason" in outcome && state.failures === (outcome.isConflict ? conflictsToNote : 1);
      if (isNews) note(`could not bring the indexes of ${table} up to date, and tries again later: ${outcome.reason}`);
      look();
    });
    atWork = { ended, stop };
  };

  const timer = setInterval(look, indexAfter / 5).unref();
  return {
    written: (held) => held.forEach(({ table }) => notice(table, true)),
    asked: (table) => notice(table, false),
    async close() {
      isClosed = true;
      clearInterval(timer);
      atWork?.stop();
      await atWork?.ended;
    },
  };
}

function isDue({ noticed, notBefore }: TableState, now: number, indexAfter: number): boolean {
  if (noticed === undefined || now < notBefore) return false;
  return now >= Math.min(noticed.last + indexAfter, noticed.first + mostPatience * indexAfter);
}

/**
 * The share of rows for which it is worth while now: the more time the last time took, the more rows or the longer the
 * pause. So the service spends no larger share of its time on a table than the share of rows that its indexes lack.
 */
function leastUncovered({ took, ended }: TableState, now: number): number {
  return now - ended >= longestPause ? 0 : Math.min(1, took / (now - ended));
}

/** Remembers the outcome. Returns whether there is nothing more to do for the rows that were written before. */
function settle(
  state: TableState,
  outcome: Exclude<CoverOutcome, "gone">,
  { began, now, indexAfter }: { readonly began: number; readonly now: number; readonly indexAfter: number },
): boolean {
  const took = now - began;
  if ("reason" in outcome) {
    state.failures++;
    const pause = Math.max(took, outcome.isConflict ? indexAfter : pauseAfterFailure);
    state.notBefore = now + Math.min(longestPause, pause * 2 ** (state.failures - 1));
    return false;
  }
  Object.assign(state, { failures: 0, stops: 0 });
  if (outcome.done) Object.assign(state, { took, ended: now });
  if (outcome.uncovered === 0) return true;
  const isWorthWhileAt = state.ended + Math.min(longestPause, state.took / outcome.uncovered);
  state.notBefore = Math.max(now + indexAfter, isWorthWhileAt);
  return false;
}
