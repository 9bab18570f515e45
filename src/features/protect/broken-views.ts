/** Refuses steps after which the engine could not refresh a view any more, or would keep old values in it. */
import { isDeepStrictEqual } from "node:util";
import type { Action } from "../../actions/model/action.ts";
import { refAfter, rewrites } from "../../actions/apply-action.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import { sameType } from "../../schema/data-type.ts";
import { columnsWithin, type Table } from "../../schema/table.ts";
import type { View } from "../../wire/lance/view.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { Judge } from "./judge.ts";

/** Undefined if the plan harms no view. */
export async function viewsAtRisk(
  { migrations, now }: Plan,
  { formatOf, views }: Pick<Target, "formatOf" | "views">,
): Promise<Judge | undefined> {
  // To find the views, each table is opened. The engine makes them only of tables with stable row ids.
  const mayBreak = migrations
    .flatMap((one) => one.actions)
    .filter(({ action: { table } }) => now.has(table) && formatOf?.(table)?.stableRowIds !== false)
    .some((one) => harmOf(one) !== undefined);
  const found = mayBreak ? await views?.() : undefined;
  return found === undefined || found.size === 0 ? undefined : (planned) => problemWith(planned, found);
}

function problemWith(planned: PlannedAction, found: ReadonlyMap<string, View>): string | undefined {
  for (const [name, { from, inputs }] of found) {
    const harm = from === planned.action.table ? harmOf(planned, inputs) : undefined;
    if (harm !== undefined)
      return `the view ${name} of ${from} ${harm}; drop the view with your client before, and create it again afterwards`;
  }
  return undefined;
}

/** What an action does to a view that reads these columns and fields of its table, or any; undefined if it does no harm. */
function harmOf({ action, before, after, undoes = [] }: PlannedAction, inputs?: readonly string[]): string | undefined {
  const { table } = action;
  const [was, now] = [before.get(table), after.get(table)];
  if (was === undefined) return undefined;
  if (now === undefined) return "would have no table to read any more";
  const left = fieldsOf(now);
  for (const [name, { path, column }] of fieldsOf(was)) {
    if (inputs?.includes(name) === false) continue;
    const then = left.get(name)?.column;
    if (then === undefined || !sameType(then.type, column.type) || then.nullable !== column.nullable)
      return `reads ${name}, and the engine could not refresh it after this step`;
    // The engine finds that rows have changed, and not that a column has its values from other files.
    const isMoved = (one: Action) => !isDeepStrictEqual(refAfter({ table, path }, one)?.path, path);
    if (isMoved(action) || undoes.some((one) => rewrites(one).has(path[0]!) || isMoved(one)))
      return `reads ${name}, and would keep the values that it has now when the engine refreshes it`;
  }
  return undefined;
}

/** The columns and fields of a table, by their paths as the engine lists what a view reads. */
function fieldsOf({ columns }: Table) {
  return new Map(columnsWithin(columns).map((one) => [one.path.join("."), one]));
}
