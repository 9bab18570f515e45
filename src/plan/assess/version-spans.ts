/** Between which versions of a table others may have written, where newer migrations made some of them. Pure. */
import { tablesOfAction } from "../../actions/apply-action.ts";
import { ownValue } from "../../schema/data-type.ts";
import type { PlannedMigration } from "../make-plan.ts";

export interface Span {
  readonly from: number;
  /** The newest version when absent. */
  readonly until: number | undefined;
}

/**
 * Those after a version, up to another one or the newest. `newer`: the migrations that ran after it and are rolled back
 * before it, the last first. Undefined where one of them is not known to have been alone.
 */
export function spansSince(
  table: string,
  version: number,
  newer: readonly PlannedMigration[],
  until: number | undefined,
): readonly Span[] | undefined {
  const spans: Span[] = [];
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

/** Whether nobody else wrote to the table while the migration ran. */
function wasAlone({ tables, actions, done, midway }: PlannedMigration, table: string): boolean {
  const [before, after, shared] = ownValue(tables, table)!;
  const own = actions.filter(({ action }) => tablesOfAction(action).includes(table));
  if (done > 0 || midway !== undefined || shared === true || own.some(({ action }) => action.kind === "renameTable"))
    return false;
  // Of others it is not recorded.
  return own.some(({ action }) => action.kind === "restoreTable") || after! - before! <= own.length;
}
