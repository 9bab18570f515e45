/** Checks running hashes against the migrations that the ledger records as applied. Pure. */
import { matchesHash } from "../../migrations/checksum.ts";
import { appliedHash } from "../state/applied-hash.ts";
import { foldLedger } from "../state/fold.ts";
import { appliedIn, type LedgerState } from "../state/ledger-state.ts";
import type { LedgerRecord } from "../state/record.ts";

/**
 * Whether the newest record and all records together state the same migrations as applied. They do unless a record came
 * late, was changed or was removed.
 */
export function agreesWithNewest(state: LedgerState): boolean {
  // The name of a marker that takes an epoch does not state what is applied.
  const said = state.head?.applied || state.lastStatement?.applied;
  return !said || matchesHash(appliedHash(appliedIn(state)).value, said);
}

/** If there are more late records than this, nothing is checked: the writer may have known any subset of them. */
const mostLate = 6;

/**
 * Whether the record's running hash is right. `late`: records that its writer may not have known, because they came
 * late into earlier epochs, or because their write seemed to fail and they were stored anyway.
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
