/** Merges values into rows of a table to which applications write. */
import { count } from "../../errors/migrate-error.ts";
import { patience, retry } from "../../targets/contract/retry.ts";
import type { NewValues, RowAccess } from "../../targets/contract/row-access.ts";
import type { CallOutcome, Target } from "../../targets/contract/target.ts";
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

/**
 * Returns how many rows got their value. If others' commits come first for as long as the engine itself tries, the values
 * are merged again.
 */
export async function mergeValues(
  { table, key, values, condition }: Merge,
  { rows, verdict, clock = systemClock, signal, mayWrite, outrun }: MergeContext,
): Promise<number> {
  const began = clock.steady();
  let tries = 0;
  const work = async () => {
    signal?.throwIfAborted();
    await mayWrite();
    return await rows.update(table, key, values, condition);
  };
  const whenConflict = (error: unknown): CallOutcome => {
    if (verdict(error).kind !== "conflict") return { kind: "refused" };
    const text = `merge of ${count(values.rows.length, "row")}`;
    outrun({ tries: ++tries, elapsed: clock.steady() - began, text });
    return { kind: "conflict" };
  };
  return await retry(work, whenConflict, clock, patience.engine);
}
