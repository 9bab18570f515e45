/** Finds the table version in which a difference appeared, and its time. Changes nothing. */
import { appliedIn, type LedgerState } from "../../ledger/state/ledger-state.ts";
import type { DriftSince, TableDifference } from "../../plan/history/table-drift.ts";
import { differences, type Table } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { TableVersion, Versions } from "../../targets/contract/versions.ts";

interface About {
  readonly expected: Table | undefined;
  readonly state: LedgerState;
  readonly target: Target;
}

/** Empty if that cannot be determined, for example for a missing table. */
export async function dateOf(
  { table, kind }: TableDifference,
  { expected, state, target: { versions } }: About,
): Promise<{ readonly since?: DriftSince }> {
  if (versions === undefined || kind === "gone") return {};
  try {
    const all = await versions.list(table);
    const first = all[0];
    if (first === undefined) return {};
    if (kind === "foreign") return { since: driftSince(first, first.version > 1) };
    const since = await firstDifferent(all, differsAt(versions, table, expected!), lastMatch(table, state));
    return since === undefined ? {} : { since };
  } catch {
    // The difference itself is reported anyway.
    return {};
  }
}

function driftSince({ version, at }: TableVersion, isOrEarlier: boolean, isOrLater = false): DriftSince {
  return { version, at, isOrEarlier, isOrLater };
}

/** Whether a version differs from `expected`. Compares indexes only if the target reports those of old versions. */
function differsAt(versions: Versions, table: string, expected: Table) {
  const known = new Map<number, Promise<boolean>>();
  const compareWith = async (version: number) => {
    const then = await versions.at(table, version);
    const should = then.indexes === undefined ? { ...expected, indexes: undefined } : expected;
    return differences(should, then).length > 0;
  };
  return (version: number): Promise<boolean> => {
    const found = known.get(version) ?? compareWith(version);
    known.set(version, found);
    return found;
  };
}

interface LastMatch {
  /** The version that the last migration of the table left. */
  readonly version?: number | undefined;
  /** A time after which no migration has changed the table; used if `version` is not recorded. */
  readonly at?: number | undefined;
}

function lastMatch(table: string, state: LedgerState): LastMatch {
  const ran = appliedIn(state).toSorted((one, other) => other.order - one.order);
  const left = ran.map(({ tables }) => tables[table]?.[1]).find((version) => typeof version === "number");
  return left === undefined ? { at: ran[0]?.at } : { version: left };
}

/** At most this many versions are checked one by one, so that a difference is dated by its latest appearance. */
const mostVersions = 200;

/** The first version from which on all versions differ; undefined if the newest one does not. */
async function firstDifferent(
  all: readonly TableVersion[],
  differs: (version: number) => Promise<boolean>,
  match: LastMatch,
): Promise<DriftSince | undefined> {
  const known = match.version;
  const since = known === undefined ? all : all.filter(({ version }) => version >= known);
  const last = since.length - 1;
  if (last < 0 || !(await differs(since[last]!.version))) return undefined;
  const byTime = match.at === undefined ? -1 : since.findLastIndex(({ at }) => at !== undefined && at <= match.at!);
  const bounded = known !== undefined || (byTime >= 0 && !(await differs(since[byTime]!.version)));
  // Versions from before the last migration differ anyway. Skipping some is thus safe only if the search stops at that
  // migration (`bounded`).
  let different = last;
  for (let stride = 1; different > 0;) {
    const isFar = last - different >= mostVersions;
    if (isFar && !bounded) return driftSince(since[different]!, true);
    if (isFar) stride *= 2;
    const at = Math.max(different - stride, bounded ? Math.max(byTime, 0) : 0);
    if (await differs(since[at]!.version)) {
      different = at;
      continue;
    }
    let same = at;
    while (different - same > 1) {
      const middle = Math.floor((same + different) / 2);
      if (await differs(since[middle]!.version)) different = middle;
      else same = middle;
    }
    return driftSince(since[different]!, false, isFar);
  }
  return driftSince(since[0]!, since[0]!.version > 1);
}
