/** Finds the version of a table that was there before somebody restored an older one. Changes nothing. */
import { placesIn, type FittingPlaces } from "../../../plan/history/position.ts";
import type { Tables } from "../../../schema/table.ts";
import type { LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { Migration } from "../../../migrations/load.ts";
import type { Target } from "../../../targets/contract/target.ts";

/** At most this many versions are looked at. */
const mostVersions = 200;

/** The newest version of a table with which the tables match such a point in history; undefined if none is found. */
export async function fittingVersion(
  table: string,
  described: Tables,
  state: LedgerState,
  {
    migrations,
    target: { versions, capabilities },
  }: {
    readonly migrations: readonly Migration[];
    readonly target: Target;
  },
  isSuch = ({ fits }: FittingPlaces): boolean => fits.length > 0,
): Promise<number | undefined> {
  if (versions === undefined) return undefined;
  try {
    for (const { version } of (await versions.list(table)).toReversed().slice(0, mostVersions)) {
      const then = new Map(described).set(table, await versions.at(table, version));
      if (isSuch(placesIn(migrations, state, then, capabilities))) return version;
    }
  } catch {
    // Old versions may be cleaned up; the message is only less exact then.
  }
  return undefined;
}
