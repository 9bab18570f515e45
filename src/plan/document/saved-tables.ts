/** Whether the tables still allow a saved plan. Pure. */
import { replacesTable, tablesOfAction } from "../../actions/apply-action.ts";
import type { Action } from "../../actions/model/action.ts";
import type { MigrateError } from "../../errors/migrate-error.ts";
import { acceptsLoss } from "../../migrations/acceptance.ts";
import { identityOf } from "../../schema/table-identity.ts";
import type { DocumentAction } from "./plan-document.ts";
import { planCommand, planStale, type SavedPlan } from "./saved-plan.ts";

/** The current state of a table that a plan touches. */
export interface TableNow {
  readonly newest: number;
  /** What distinguishes the table from others of its name, if the target reports it. */
  readonly instance?: string | undefined;
  /** The time of the version that the plan was made from; undefined if that version is no longer listed. */
  readonly at: number | undefined;
  /** Whether the target lists versions. If not, only a lower version shows that the table was recreated. */
  readonly listsVersions: boolean;
}

/**
 * `tables`: those of the plan that exist and have a known version. `begun`: the planned actions that have begun. Throws
 * ERR_PLAN_STALE if a table was recreated or cannot be identified, or, if a rollback loses what was written, was written to.
 */
export function checkTables(
  saved: SavedPlan,
  tables: ReadonlyMap<string, TableNow>,
  begun: readonly DocumentAction[],
): void {
  const loses = saved.plan.direction === "down" && acceptsLoss(saved.choice);
  const replaced = replacedTables(begun);
  const changed = new Set(begun.flatMap(({ action }) => tablesOfAction(action as Action)));
  for (const [table, now] of tables) {
    const version = saved.tables[table];
    if (version == null || replaced.has(table)) continue;
    const at = saved.times?.[table] ?? undefined;
    const identity = identityOf({ version, at }, now);
    if (identity === "another")
      throw planStale(saved.plan, "table", `table ${table} was dropped and recreated since the plan was saved`);
    if (identity === "unknown" && now.listsVersions)
      throw planStale(
        saved.plan,
        "table",
        at === undefined
          ? `it does not state when version ${version} of table ${table} was made, so it is unknown whether this is the same table`
          : `version ${version} of table ${table} was cleaned up since the plan was saved, so it is unknown whether this is the same table`,
        `save the plan again with ${planCommand(saved.plan)}`,
      );
    if (loses && now.newest !== version && !changed.has(table))
      throw planStale(
        saved.plan,
        "table",
        `table ${table} was written to, and the plan loses rows of it: it is at version ${now.newest}, and was at ${version}`,
      );
  }
}

/** The tables whose names may belong to other tables by now. */
export function replacedTables(begun: readonly DocumentAction[]): ReadonlySet<string> {
  const actions = begun.map(({ action }) => action as Action);
  return new Set(actions.filter(({ kind }) => replacesTable.has(kind)).flatMap(tablesOfAction));
}

/** `now`: what would be lost. Throws ERR_PLAN_STALE if the plan does not state it. */
export function checkAccepted({ plan, choice }: SavedPlan, now: readonly string[]): void {
  // How many rows are reinserted may change, but not what they lose.
  const lossOf = (words: string) => (acceptsLoss(choice) ? words : words.split(" reinserted without ")[1]);
  const stated = new Set<string | undefined>([undefined, ...(plan.accepted ?? []).map(lossOf)]);
  const more = now.find((words) => !stated.has(lossOf(words)));
  if (more === undefined) return;
  const flag = acceptsLoss(choice) ? "--accept lossy" : "--reinsert";
  throw planStale(plan, "table", `it does not state this: ${more}`, `finish it with migrate down ${flag}`);
}

/** Rows block what is left of the plan. */
export function blockedSince({ plan }: SavedPlan, problems: readonly string[]): MigrateError {
  const problem = `rows block the rollback by now: ${problems.join("; ")}`;
  return planStale(plan, "table", problem, "run migrate down, which states what to pass");
}
