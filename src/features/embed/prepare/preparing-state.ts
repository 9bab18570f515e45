/** Whether a process prepares a column now, by the records of its leases, so that any machine can tell. */
import { foldLedger } from "../../../ledger/state/fold.ts";
import { journalOf } from "../../../ledger/journal/open-journal.ts";
import { byPlace, type LedgerRecord } from "../../../ledger/state/record.ts";
import type { Clock } from "../../../time/clock.ts";
import { isSilent } from "../../../run/lease/describe-holder.ts";
import { isOfShard } from "../compute/staging-name.ts";
import { isGone } from "./process-identity.ts";
import type { RunContext } from "../../../run/run-context.ts";
import { phaseNow } from "../../../run/phase.ts";
import type { PreparingState } from "../../../run/computed.ts";

/** What the record of a process states that has prepared all. */
export const preparedDetail = "prepared";

/** `ledgers`: those of the leases under which the column was prepared: one for all rows, and one for each shard. */
export async function preparingState(
  ledgers: readonly string[],
  { target, clock }: Pick<RunContext, "target" | "clock">,
): Promise<PreparingState> {
  const states = ledgers.map(async (name) => {
    const records = await journalOf(target, name, clock).read();
    return { ...stateIn(records, clock), isWhole: !isOfShard(name) };
  });
  const found = (await Promise.all(states)).toSorted((one, other) => (other.at ?? 0) - (one.at ?? 0));
  const latest = (wanted: PreparingState["state"]) => found.find(({ state }) => state === wanted);
  const [newest] = found;
  const isDone = newest?.state === "ended" && newest.isWhole;
  const shown = latest("running") ?? latest("unknown") ?? (isDone ? newest : latest("stopped")) ?? latest("ended");
  if (shown === undefined) return { state: "unknown" };
  const { isWhole: _, ...state } = shown;
  return state;
}

function stateIn(records: readonly LedgerRecord[], clock: Clock): PreparingState {
  const state = foldLedger(records);
  const { head, holder, epoch } = state;
  if (head === undefined) return { state: "unknown" };
  const own = records.filter((record) => record.epoch === epoch).toSorted(byPlace);
  const seen = {
    by: head.by,
    since: Math.min(...own.map(({ at }) => at)),
    at: head.at,
    phase: phaseNow(own),
  };
  const hasEnded = own.some(({ detail }) => detail === preparedDetail);
  if (holder === undefined) return { state: hasEnded ? "ended" : "stopped", ...seen };
  // By the clock of another machine, which may be wrong.
  const isAhead = head.at - clock.wall() > holder.lease;
  return { state: isSilent(state, clock) || isGone(holder.run) ? "stopped" : isAhead ? "unknown" : "running", ...seen };
}
