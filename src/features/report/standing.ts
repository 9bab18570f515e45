/** Which databases of many need attention. Also part of the page. */
import type { FleetDatabase } from "./report-document.ts";

export interface Standing {
  readonly isUnread: boolean;
  readonly isPending: boolean;
  /** One with pending migrations may also have problems. */
  readonly hasProblems: boolean;
  readonly isUpToDate: boolean;
}

export function standingOf(one: FleetDatabase): Standing {
  if ("error" in one) return { isUnread: true, isPending: false, hasProblems: false, isUpToDate: false };
  const isPending = one.pending > 0;
  const hasProblems = one.problems.length > 0 || one.unfinished.length > 0;
  return { isUnread: false, isPending, hasProblems, isUpToDate: !isPending && !hasProblems };
}

export function countOf(databases: readonly FleetDatabase[], what: keyof Standing): number {
  return databases.filter((one) => standingOf(one)[what]).length;
}
