/**
 * The spans of a table's versions in which others may have written, without the versions that newer migrations made.
 * Pure.
 */
import { tablesOfAction } from "../../actions/apply-action.ts";
import { ownValue } from "../../schema/data-type.ts";
import { isPartlyDone } from "../history/progress.ts";
import type { PlannedMigration } from "../make-plan.ts";

export interface VersionSpan {
  readonly from: number;
  /** Undefined for the newest version. */
  readonly until: number | undefined;
}

/**
 * The spans from `version` to `until`, or to the newest version. `newer`: the migrations that ran after `version` and
 * are rolled back first, the last one first. Undefined if others may have written while one of them ran.
 */
export function spansSince(
  table: string,
  version: number,
  newer: readonly PlannedMigration[],
  until: number | undefined,
): readonly VersionSpan[] | undefined {
  const spans: VersionSpan[] = [];
  let from = version;
  for (const planned of newer.toReversed()) {
    const own = ownValue(planned.tables, table);
    if (own === undefined) continue;
    const [before, after] = own;
    if (until !== undefined && before === until) break;
    if (before === null || after === null || before < from || !wasAlone(planned, table)) return undefined;
    spans.push({ from, until: before });
    from = after;
  }
  return [...spans, { from, until }].filter((span) => span.from !== span.until);
}

/** Whether the migration is known to have been the only writer of the table while it ran. */
function wasAlone(planned: PlannedMigration, table: string): boolean {
  const { tables, actions } = planned;
  const [before, after, others] = ownValue(tables, table)!;
  const own = actions.filter(({ action }) => tablesOfAction(action).includes(table));
  if (isPartlyDone(planned) || others === true || own.some(({ action }) => action.kind === "renameTable")) return false;
  if (others === "none") return true;
  // For a table that is not restored, older releases did not record other writers, so the versions are counted.
  return own.some(({ action }) => action.kind === "restoreTable") || after! - before! <= own.length;
}
