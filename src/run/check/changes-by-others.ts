/**
 * Finds metadata and indexes that others have added to tables and that can't be added again after an old version is
 * restored. Runs before anything is changed.
 */
import { othersSince, withOthers } from "../../plan/reconcile/changes-by-others.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import { carryOn } from "../../plan/reconcile/live-commits.ts";
import { touchedTables } from "../../plan/reconcile/reconcile.ts";
import type { ActionFor } from "../../actions/model/action.ts";
import type { Table } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";

/** As text. A missing version is refused elsewhere. */
export async function blockingChanges(plan: Plan, target: Target): Promise<readonly string[]> {
  const planned = plan.migrations.flatMap(({ actions }) => actions);
  if (target.versions === undefined || planned.every(({ action }) => action.kind !== "restoreTable")) return [];
  const live = new Map<string, Table>();
  for (const name of touchedTables(plan)) {
    const table = (await target.describeTable(name, true))?.table;
    if (table !== undefined) live.set(name, table);
  }
  // The current name of each table, by its name at that point of the plan.
  const names = new Map<string, string>();
  const problems: string[] = [];
  for (const one of planned) {
    const { action } = one;
    const name = names.get(action.table) ?? action.table;
    if (action.kind === "restoreTable") problems.push(...(await lostBy(one, action, name, live, target)));
    else carryOn(live, action);
    if (action.kind === "renameTable") names.set(action.name, name);
  }
  return problems;
}

/** What the restore would lose. Updates `live` to the table after it. `name`: the table's current name. */
async function lostBy(
  planned: PlannedAction,
  { table, version }: ActionFor<"restoreTable">,
  name: string,
  live: Map<string, Table>,
  target: Target,
): Promise<readonly string[]> {
  const replaced = live.get(table);
  const restored = await target.versions!.at(name, version, true).catch(() => undefined);
  if (replaced === undefined || restored === undefined) return [];
  const others = othersSince(planned, replaced, restored);
  live.set(table, withOthers(table, restored, others));
  if (others.lost.length === 0) return [];
  return [`restoring version ${version} of ${table} would lose what others have set since: ${others.lost.join("; ")}`];
}
