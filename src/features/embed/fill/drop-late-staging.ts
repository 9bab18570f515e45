import type { Action, ActionFor } from "../../../actions/model/action.ts";
import { preparedName } from "../../../actions/rewrite/prepared-columns.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { preparingsOf, resultsOf, stagingsOf } from "../compute/staging-name.ts";

/**
 * Drops what a late append of an action that is done has left, or a run that was killed after its last merge: no run would
 * merge or drop it any more. While the column is being prepared, its staging table belongs to that.
 */
export async function dropLateStaging(
  action: Action,
  { rows, listTables }: Pick<Target, "rows" | "listTables">,
  ledger: string,
): Promise<void> {
  if (rows === undefined || !isStaged(action)) return;
  const tables = await listTables();
  if (preparingsOf(tables, ledger, action).length > 0) return;
  const prepared = { table: action.table, path: formatPath([preparedName(parsePath(action.path)[0]!)]) };
  const late = [action, prepared].flatMap((column) => stagingsOf(tables, ledger, column));
  // Another ledger may have results of the same column.
  const results = resultsOf(tables, prepared).filter((name) => name.startsWith(`${ledger}.`));
  for (const name of [...late, ...results.toReversed()]) await rows.drop(name);
}

function isStaged(
  action: Action,
): action is ActionFor<"backfillColumn" | "fillColumn" | "prepareColumn" | "catchUpColumn"> {
  return ["backfillColumn", "fillColumn", "prepareColumn", "catchUpColumn"].includes(action.kind);
}
