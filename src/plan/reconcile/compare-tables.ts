/** Compares all tables with what the ledger implies, and reports every difference. A plan stops at the first. Pure. */
import type { Migration } from "../../migrations/load.ts";
import type { Table, Tables } from "../../schema/table.ts";
import { compileMigration, type Describing } from "../compile/compile.ts";
import type { Plan } from "../make-plan.ts";
import { differencesOf, type TableDifference } from "../history/table-drift.ts";
import { changedByGroup, firstPosition, touchedTables } from "./reconcile.ts";

/**
 * The tables to describe: those that exist according to the ledger, those of migrations in doubt, and those that
 * migrations create later.
 */
export function tablesToCompare(
  plan: Plan,
  migrations: readonly Migration[],
  describing: Describing,
): readonly string[] {
  const made = migrations
    .flatMap((migration) => compileMigration(migration, describing))
    .filter(({ action }) => action.kind === "createTable")
    .map(({ action }) => action.table);
  return [...new Set([...plan.now.keys(), ...touchedTables(plan), ...made])];
}

/**
 * The differences. The plan contains the migrations that are in doubt or that another run is executing: tables that
 * match any state within their actions count as expected. `group`: those in doubt that run as one; each of their tables
 * may be as before all of them or as after. A target that cannot describe its tables shows only whether
 * they exist.
 */
export function compareTables(
  { now, migrations }: Plan,
  snapshots: Tables,
  { describes }: Describing,
  group: ReadonlySet<number>,
): readonly TableDifference[] {
  const expected = new Map<string, Table | undefined>([...now, ...changedByGroup(migrations, snapshots, group)]);
  const either = new Set<string>();
  for (const { actions, migration } of migrations) {
    if (group.has(migration.version)) continue;
    const { done = 0, isMidway = false } = (describes ? firstPosition(actions, snapshots) : undefined) ?? {};
    for (const { after } of actions.slice(0, done)) for (const [table, state] of after) expected.set(table, state);
    if (isMidway) for (const table of actions[done]!.before.keys()) expected.set(table, snapshots.get(table));
    const [next] = actions;
    if (!describes && next?.action.kind === "createTable") either.add(next.action.table);
  }
  return [...snapshots].flatMap(([table, found]): readonly TableDifference[] => {
    const should = expected.get(table);
    if (either.has(table)) return [];
    return describes
      ? differencesOf(table, should, found)
      : differencesOf(table, should && { columns: [] }, found && { columns: [] });
  });
}
