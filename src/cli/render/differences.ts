import type { TableDifference } from "../../plan/history/table-drift.ts";

/** A difference, as programs get it. */
export function differenceDocument({ since, ...difference }: TableDifference) {
  if (since === undefined) return difference;
  const { version, at, isOrEarlier, isOrLater } = since;
  const time = at === undefined ? undefined : new Date(at).toISOString();
  return { ...difference, since: { version, time, orEarlier: isOrEarlier, orLater: isOrLater } };
}
