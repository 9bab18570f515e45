/** Merges values into rows of a table to which applications write. */
import { count } from "../../errors/migrate-error.ts";
import { patience } from "../../targets/contract/retry.ts";
import type { NewValues, RowAccess } from "../../targets/contract/row-access.ts";
import type { Target } from "../../targets/contract/target.ts";
import { systemClock, type Clock } from "../../time/clock.ts";
import type { Outrun } from "../events.ts";

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
}

export interface Merged {
  /** How many rows got their value. */
  readonly changed: number;
  /** How many versions of the table that made. */
  readonly commits: number;
}

/** How many rows the smallest merge has. It reads few files and is soon done, so that it comes before others sometimes. */
const fewest = 10;

/** One that was outrun is followed by smaller ones. */
const shrink = 10;

/**
 * Merges values in as many calls as writers make necessary: if others' commits come first for as long as the engine itself
 * tries, a call with fewer rows follows, and after one that came first a larger one.
 */
export class ValueMerger {
  readonly #context: MergeContext;
  #most = Number.POSITIVE_INFINITY;

  constructor(context: MergeContext) {
    this.#context = context;
  }

  /** Throws the error of the last call if not even the smallest comes first. */
  async merge({ table, key, values, condition }: Merge): Promise<Merged> {
    const { rows, clock = systemClock, signal, mayWrite } = this.#context;
    const began = clock.steady();
    let [at, outrun, vain, commits, changed] = [0, 0, 0, 0, 0];
    while (at < values.rows.length) {
      signal?.throwIfAborted();
      await mayWrite();
      const part = values.rows.slice(at, at + this.#most);
      try {
        changed += await rows.update(table, key, { ...values, rows: part }, condition);
        commits++;
        [at, vain] = [at + part.length, 0];
        this.#most = Math.max(this.#most, 2 * part.length);
      } catch (error) {
        if (this.#context.verdict(error).kind !== "conflict") throw error;
        const text = `merge of ${count(part.length, "row")}`;
        this.#context.outrun({ tries: ++outrun, elapsed: clock.steady() - began, text });
        if (part.length <= fewest && ++vain === patience.engine.tries) throw error;
        this.#most = Math.max(fewest, Math.ceil(part.length / shrink));
      }
    }
    return { changed, commits };
  }
}
