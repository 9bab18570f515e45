/** Emits the events of deferred indexes. */
import { foldLedger } from "../../ledger/state/fold.ts";
import { isStuck, type Deferral } from "../deferral-text.ts";
import type { Emit } from "../events.ts";
import type { RunContext } from "../run-context.ts";
import { listDeferred } from "./find-deferred.ts";

export function emitDeferred(deferred: readonly Deferral[], emit: Emit): void {
  for (const one of deferred)
    if (!isStuck(one)) emit({ event: "deferred", ...one });
    else emit({ event: "notIndexed", table: one.table, index: one.index, problem: one.problem });
}

/** Emits and returns those that are deferred after a rollback, which is done: an error does not make it fail. */
export async function deferredAfterwards(context: RunContext): Promise<readonly Deferral[]> {
  try {
    const deferred = await listDeferred(context, foldLedger(await context.journal.read()));
    emitDeferred(deferred, context.emit);
    return deferred;
  } catch {
    // `status` reports them, or why they are unknown.
    return [];
  }
}
