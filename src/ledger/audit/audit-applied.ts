/** Whether running hashes are those of what the ledger says is applied. Pure. */
import { matchesHash } from "../../migrations/checksum.ts";
import { appliedHash } from "../state/applied-hash.ts";
import { appliedIn, foldLedger, type LedgerState } from "../state/fold.ts";
import type { LedgerRecord } from "../state/record.ts";

/** Whether the newest record says the same as all records together: so it is unless one came late, or was changed or taken away. */
export function agreesWithNewest(state: LedgerState): boolean {
  // The name of a marker that takes an epoch does not say what is applied.
  const said = state.head?.applied || state.told?.applied;
  return !said || matchesHash(appliedHash(appliedIn(state)).value, said);
}

/** With more of them it is not looked at: each may or may not have been known. */
const mostLate = 6;

/**
 * `late`: those of the records that the writer need not have known, because they came late into epochs before its own, or
 * because their write failed and they were stored all the same.
 */
export function saysWhatIsApplied(
  { applied }: LedgerRecord,
  records: readonly LedgerRecord[],
  late: readonly LedgerRecord[],
): boolean {
  const telling = late.filter(({ event }) =>
    ["applied", "baselined", "noted", "reverting", "reverted"].includes(event),
  );
  if (telling.length > mostLate) return true;
  return subsets(telling).some((unknown) => {
    const state = foldLedger(records.filter((record) => !unknown.has(record)));
    return matchesHash(appliedHash(appliedIn(state)).value, applied);
  });
}

function subsets<Item>(items: readonly Item[]): readonly ReadonlySet<Item>[] {
  return items.reduce<readonly ReadonlySet<Item>[]>(
    (all, item) => [...all, ...all.map((set) => new Set([...set, item]))],
    [new Set()],
  );
}
