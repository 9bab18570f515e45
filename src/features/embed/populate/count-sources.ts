/** Which rows of the source table a step that computes rows is about, for plans. */
import type { Action, PopulateTableAction } from "../../../actions/model/action.ts";
import { tablesOfAction } from "../../../actions/apply-action.ts";
import { rowsOfCondition, type RowsToCompute } from "../../../plan/assess/rows-to-compute.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { requireColumn, type Database } from "../../../schema/table.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { canBeBlocks, findSources } from "./find-sources.ts";

/** The rows of the source table; undefined if they do not follow from the current tables. */
export function sourcesNow(
  { from, where }: PopulateTableAction,
  before: readonly Action[],
  now: Database,
): RowsToCompute | undefined {
  return rowsOfCondition({ table: from, where }, before, now);
}

/** How many of them have no rows of their own yet; null if that is unknown. `before`: the actions between now and this one. */
export async function countSources(
  action: PopulateTableAction,
  before: readonly Action[],
  now: Database,
  { rows, countRows }: Pick<Target, "rows" | "countRows">,
): Promise<number | null> {
  const wanted = sourcesNow(action, before, now);
  if (wanted === undefined || rows === undefined || countRows === undefined) return null;
  const { table, from, key, source } = action;
  try {
    const sources = await countRows(wanted.table, wanted.where);
    const earlier = before.filter((one) =>
      tablesOfAction(one).some((name) => [table, from, wanted.table].includes(name)),
    );
    if (earlier.some(({ kind }) => kind === "populateTable")) return null;
    // Its columns may be new.
    if (earlier.length > 0 || !now.has(table)) return sources;
    if ((await countRows(table, `${sqlPath([source])} is not null`, undefined, 1)) === 0) return sources;
    let lacking = 0;
    const columns = [
      requireColumn(from, now.get(from)!.columns, [key]),
      requireColumn(table, now.get(table)!.columns, [source]),
    ];
    const context = { action, rows, hasAddresses: false, isEmpty: false, byBlocks: canBeBlocks(...columns), sources };
    for await (const { lacks } of findSources(context)) if (lacks !== undefined) lacking++;
    return lacking;
  } catch {
    // What can't be queried is unknown.
    return null;
  }
}
