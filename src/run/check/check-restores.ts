/**
 * Finds what old versions that a rollback restores lack: metadata and indexes that others have added to tables and that
 * can't be added again, and indexes that were still deferred in that version. Runs before anything is changed.
 */
import { foreignSettings, withForeignSettings } from "../../plan/reconcile/foreign-settings.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import { carryOn } from "../../plan/reconcile/live-commits.ts";
import { touchedTables } from "../../plan/reconcile/reconcile.ts";
import type { ActionFor } from "../../actions/model/action.ts";
import type { Risk } from "../../actions/model/risk.ts";
import { databaseOf, type Table } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import { describeTables, tablesInSnapshots } from "./snapshots.ts";

/**
 * What can't be added again, as text, and the plan with the risks of its restores. A missing version is refused
 * elsewhere.
 */
export async function checkRestores(
  plan: Plan,
  target: Target,
): Promise<{ readonly blocking: readonly string[]; readonly plan: Plan }> {
  const planned = plan.migrations.flatMap(({ actions }) => actions);
  if (target.versions === undefined || planned.every(({ action }) => action.kind !== "restoreTable"))
    return { blocking: [], plan };
  const live = databaseOf(tablesInSnapshots(await describeTables(touchedTables(plan), target, true)));
  const now = new Map(live);
  // The current name of each table, by its name at that point of the plan.
  const names = new Map<string, string>();
  const blocking: string[] = [];
  const risks = new Map<PlannedAction, readonly Risk[]>();
  for (const [at, one] of planned.entries()) {
    const { action } = one;
    const name = names.get(action.table) ?? action.table;
    if (action.kind === "restoreTable") {
      const restored = await target.versions.at(name, action.version, true).catch(() => undefined);
      blocking.push(...lostBy(one, action, restored, live));
      risks.set(one, deferralRisks(action, now.get(name), restored, endOf(action.table, planned.slice(at))));
    } else carryOn(live, action);
    if (action.kind === "renameTable") names.set(action.name, name);
  }
  const withRisks = (one: PlannedAction) => ({ ...one, risks: [...one.risks, ...(risks.get(one) ?? [])] });
  const migrations = plan.migrations.map((one) => ({ ...one, actions: one.actions.map(withRisks) }));
  return { blocking, plan: { ...plan, migrations } };
}

/** The table after all of these actions; undefined if they drop it. */
function endOf(table: string, planned: readonly PlannedAction[]): Table | undefined {
  let [name, end]: [string, Table | undefined] = [table, undefined];
  for (const { action, after } of planned) {
    if (action.kind === "renameTable" && action.table === name) ({ name } = action);
    if (after.has(name)) end = after.get(name);
  }
  return end;
}

/** Indexes that were built since. `now`: the table before the rollback. `end`: the table after it. */
function deferralRisks(
  { table, version }: ActionFor<"restoreTable">,
  now: Table | undefined,
  restored: Table | undefined,
  end: Table | undefined,
): readonly Risk[] {
  const isBuilt = (name: string) => (now?.indexes?.[name] ?? null) !== null && now?.deferred?.includes(name) !== true;
  return (restored?.deferred ?? [])
    .filter((name) => isBuilt(name) && (end?.indexes?.[name] ?? null) !== null)
    .map((name) => ({
      kind: "deferral",
      text: `version ${version} of ${table} lacks index ${name}, which was built since: it is deferred again, and migrate up builds it once there are enough vectors`,
    }));
}

/** What the restore would lose. Updates `live` to the table after it. */
function lostBy(
  planned: PlannedAction,
  { table, version }: ActionFor<"restoreTable">,
  restored: Table | undefined,
  live: Map<string, Table>,
): readonly string[] {
  const replaced = live.get(table);
  if (replaced === undefined || restored === undefined) return [];
  const others = foreignSettings(planned, replaced, restored);
  live.set(table, withForeignSettings(table, restored, others));
  if (others.lost.length === 0) return [];
  return [`restoring version ${version} of ${table} would lose what others have set since: ${others.lost.join("; ")}`];
}
