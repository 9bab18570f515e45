/** Merges values into rows of a table to which applications write. */
import { count } from "../../../errors/migrate-error.ts";
import { patience, pauseAfter } from "../../../targets/contract/retry.ts";
import type { NewValues, RowAccess } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { systemClock, type Clock } from "../../../time/clock.ts";
import type { Outrun } from "../../../run/events.ts";

export interface MergeContext {
  readonly rows: Pick<RowAccess, "update">;
  readonly verdict: Target["verdict"];
  readonly clock?: Clock | undefined;
  /** Aborted if the run is interrupted: then nothing is merged any more. */
  readonly signal?: AbortSignal | undefined;
  /** Throws if this run may not write any more. */
  readonly mayWrite: () => Promise<void>;
  /** Reports how often writes of others have come first. */
  readonly outrun: (how: Outrun) => void;
}

interface Merge {
  readonly table: string;
  readonly key: string;
  readonly values: NewValues;
  /** SQL for the rows that get their value. */
  readonly condition: string;
  /** Whether the rest is left to the caller if some rows do not get their value, as others may have moved all of them. */
  readonly stops?: boolean;
}

export interface Merged {
  /** How many rows got their value. */
  readonly changed: number;
  /** How many of the rows were merged. */
  readonly merged: number;
}

/** How many rows the smallest merge has. */
const fewest = 10;

/** A merge that was outrun is followed by one of a tenth, and if a smaller one has come first before, by half of that. */
const [leap, step] = [10, 2];

/** After how many merges of one size twice as many rows are tried. Each time that this is vain, the number doubles. */
const firstRun = 4;

/** Milliseconds between two reports that writes of others came first. */
const reportPause = 10_000;

/**
 * Merges values in as many calls as writers make necessary: if others' commits come first for as long as the engine itself
 * tries, a call with fewer rows follows. It touches fewer files that others change meanwhile.
 */
export class ValueMerger {
  /** How many versions of the table all merges made. */
  commits = 0;
  readonly #context: MergeContext;
  #most = Number.POSITIVE_INFINITY;
  /** The size of the last merge that came first after others had been outrun; 0 if there was none. */
  #good = 0;
  /** Merges of this size since it was chosen, and how many are wanted before a larger one. */
  #run = { length: 0, wanted: firstRun };
  #outrun = { tries: 0, since: 0, reported: Number.NEGATIVE_INFINITY };

  constructor(context: MergeContext) {
    this.#context = context;
  }

  /**
   * Returns how many rows got their value, and how many of the first ones were merged. Throws the error of the last call
   * if not even the smallest comes first.
   */
  async merge({ table, key, values, condition, stops = false }: Merge): Promise<Merged> {
    const { rows, clock = systemClock, signal, mayWrite } = this.#context;
    let [merged, changed, vain] = [0, 0, 0];
    while (merged < values.rows.length) {
      signal?.throwIfAborted();
      await mayWrite();
      const part = values.rows.slice(merged, merged + this.#most);
      try {
        const done = await rows.update(table, key, { ...values, rows: part }, condition);
        this.commits++;
        [merged, changed, vain] = [merged + part.length, changed + done, 0];
        this.#grow(part.length);
        if (stops && done < part.length) break;
      } catch (error) {
        const { kind, pause = 0 } = this.#context.verdict(error);
        if (kind !== "conflict" || (part.length <= fewest && ++vain === patience.engine.tries)) throw error;
        this.#report(part.length, clock);
        this.#shrink(part.length);
        await clock.sleep(Math.max(pause, pauseAfter(1, patience.engine)));
      }
    }
    return { changed, merged };
  }

  #grow(size: number): void {
    if (size < this.#most) return;
    this.#good = size;
    if (++this.#run.length < this.#run.wanted) return;
    this.#most *= step;
    this.#run.length = 0;
  }

  #shrink(size: number): void {
    // The last part of a page may have fewer rows.
    const from = Math.min(this.#most, Math.max(size, this.#good));
    const isTrial = this.#good > 0 && from > this.#good;
    if (isTrial) this.#run.wanted *= step;
    const next = isTrial ? this.#good : from / (this.#good > 0 ? step : leap);
    this.#most = Math.max(fewest, Math.ceil(next));
    this.#good = Math.min(this.#good, this.#most);
    this.#run.length = 0;
  }

  #report(size: number, clock: Clock): void {
    const now = clock.steady();
    if (this.#outrun.tries++ === 0) this.#outrun.since = now;
    if (now < this.#outrun.reported + reportPause) return;
    this.#outrun.reported = now;
    const { tries, since } = this.#outrun;
    this.#context.outrun({ tries, elapsed: now - since, text: `merge of ${count(size, "row")}` });
  }
}
