/** Compares the plan with the current tables: finds drift, and how far an interrupted run got. Pure. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { dependsOnFound } from "../../actions/apply-action.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { change, sameTable, sameTables, type Table, type Tables } from "../../schema/table.ts";
import { statesBetween } from "../commits/commits.ts";
import { guardHint } from "../../actions/rewrite/append-guard.ts";
import type { Plan, PlannedAction, PlannedMigration } from "../make-plan.ts";
import { positionsIn, type Position } from "../history/position.ts";
import { differencesOf, howToFix } from "../history/table-drift.ts";
import { unseenOf } from "../compile/unseen-effects.ts";

/** The tables that a plan will touch. */
export function touchedTables({ migrations }: Plan): readonly string[] {
  return [...new Set(migrations.flatMap(({ actions }) => actions.flatMap(({ before }) => [...before.keys()])))];
}

/** The tables whose indexes must be described too, because the plan knows or loses some of them. */
export function indexedTables({ now, migrations }: Plan): ReadonlySet<string> {
  const indexed = new Set<string>();
  const look = (tables: Tables) => {
    for (const [name, table] of tables) if (table?.indexes !== undefined) indexed.add(name);
  };
  look(now);
  for (const { action, before, after } of migrations.flatMap(({ actions }) => actions)) {
    if (dependsOnFound(action) || action.kind === "setMetadata") indexed.add(action.table);
    look(before);
    look(after);
  }
  return indexed;
}

/** Of a rollback: the tables as an action left them that stopped between its commits. */
export function foundBetween({ migrations }: Plan, snapshots: Tables): Tables {
  const found = migrations.flatMap(({ left }) => {
    const snapshot = left && snapshots.get(left.table);
    const table = snapshot && left.as(snapshot);
    return table === undefined ? [] : [[left!.table, table] as const];
  });
  return new Map(found);
}

/**
 * The plan without the actions that turn out to be done. `group`: the versions of the group in doubt. Throws ERR_DRIFT
 * if a table matches no expected state.
 */
export function reconcile(plan: Plan, snapshots: Tables, group: ReadonlySet<number> = new Set()): Plan {
  const changed = changedByGroup(plan.migrations, snapshots, group);
  const accounted = new Set(changed.keys());
  const migrations = plan.migrations.map((planned) => {
    if (group.has(planned.migration.version)) {
      const left = planned.actions.filter(({ action }) => !changed.has(action.table));
      return { ...planned, actions: left, whole: planned.actions };
    }
    const found = planned.inDoubt ? firstPosition(planned.actions, snapshots) : undefined;
    if (found === undefined) return planned;
    // If the migration has progressed, its tables match; the others must be unchanged.
    if (found.done > 0 || found.isMidway)
      for (const table of touchedTables({ ...plan, migrations: [planned] })) accounted.add(table);
    return found.done === 0 ? planned : withoutDone(planned, found.done);
  });
  for (const table of touchedTables(plan)) if (!accounted.has(table)) checkDrift(plan, table, snapshots);
  const now = withFound(plan, migrations);
  change(now, changed);
  return { migrations, now };
}

/** The tables that are as the whole group leaves them, although the ledger does not record that. */
export function changedByGroup(
  migrations: Plan["migrations"],
  snapshots: Tables,
  group: ReadonlySet<number>,
): Map<string, Table | undefined> {
  const begun = migrations.filter(({ migration }) => group.has(migration.version));
  const after = new Map(begun.flatMap(({ actions }) => actions.flatMap((action) => [...action.after])));
  return new Map([...after].filter(([name, table]) => sameTable(table, snapshots.get(name))));
}

/** The database after what the ledger records and what was found done beyond it. */
function withFound({ now, migrations }: Plan, settled: readonly PlannedMigration[]): Map<string, Table> {
  const found = migrations.flatMap(({ actions, done }, index) => actions.slice(0, settled[index]!.done - done));
  const database = new Map(now);
  for (const { after } of found) change(database, after);
  return database;
}

/** The first position in a sequence of actions at which every table is as it is now; undefined if there is none. */
export function firstPosition(actions: readonly PlannedAction[], snapshots: Tables): Position | undefined {
  const start = new Map(actions.toReversed().flatMap(({ before }) => [...before]));
  // Past an action with `recordFirst`, the ledger would have a record.
  const last = actions.findIndex(({ recordFirst }, index) => index > 0 && recordFirst);
  const states = actions.slice(0, last === -1 ? undefined : last + 1).map(({ commits, after }, index) => ({
    between: statesBetween(commits),
    after: index === last ? undefined : after,
  }));
  const [first] = positionsIn(start, states, snapshots);
  return first;
}

function withoutDone(planned: PlannedMigration, found: number): PlannedMigration {
  const { actions, done, ran } = planned;
  return {
    ...planned,
    done: done + found,
    ran: [...ran, ...actions.slice(0, found).map(({ action }) => action)],
    actions: actions.slice(found),
    found: actions[found - 1],
    midway: undefined,
  };
}

/** Like `reconcile`, if only the list of tables is known: checks that exactly the expected tables exist. */
export function checkPresence(plan: Plan, names: ReadonlySet<string>): void {
  // The one action that may have run without a record may have created its table.
  const begun = plan.migrations.find(({ inDoubt }) => inDoubt)?.actions[0]?.action;
  for (const table of touchedTables(plan)) {
    const expected = plan.now.get(table);
    if ((expected !== undefined) === names.has(table)) continue;
    if (begun?.kind === "createTable" && begun.table === table) continue;
    throw drift(table, expected && { columns: [] }, names.has(table) ? { columns: [] } : undefined);
  }
}

function checkDrift(plan: Plan, table: string, snapshots: Tables): void {
  const [expected, found] = [plan.now.get(table), snapshots.get(table)];
  if (sameTable(expected, found)) return;
  const own = plan.migrations.filter(({ actions }) => actions.some(({ after }) => after.has(table)));
  const actions = own.flatMap((planned) => planned.actions).filter(({ after }) => after.has(table));
  // Of a migration that changes several tables, one alone does not show that it has run.
  const leaves = new Map(own.flatMap((planned) => planned.actions.flatMap(({ after }) => [...after])));
  const isMade = sameTables(leaves, snapshots);
  throw drift(table, expected, found, isMade ? madeHint(own, actions, expected === undefined) : undefined);
}

/** How to proceed if a table is already as the plan would leave it, and no run has done that. */
function madeHint(own: readonly PlannedMigration[], actions: readonly PlannedAction[], isNew: boolean): string {
  const names = own.map(({ migration }) => formatMigration(migration));
  if (own.at(-1)!.direction === "down") {
    const ways = names.map((name) => `migrate resolve --reverted ${name}`).join(", then ");
    return `something other than migrate down has undone ${names.join(" and ")} there; make that change again, then run migrate down again; or, if it must stay undone, mark it as rolled back: ${ways}`;
  }
  const unseen = actions
    .flatMap(({ action }) => unseenOf(action) ?? [])
    .map(({ where, what }) => `${where} has ${what}`);
  if (isNew)
    return `it is as ${names.at(-1)!} would leave it: if ${["it was there before the migrations", ...unseen].join(" and ")}, run migrate baseline; if the ledger was lost or is older than the tables, see migrate repair`;
  const condition = unseen.length === 0 ? "" : `, if ${unseen.join(" and ")},`;
  return `the pending changes are there already; if the ledger was lost or is older than the tables, see migrate repair; otherwise undo them or${condition} mark the migration as applied: migrate baseline`;
}

function drift(table: string, expected: Table | undefined, found: Table | undefined, hint?: string): MigrateError {
  const [difference] = differencesOf(table, expected, found);
  const { kind, differences } = difference!;
  const way = howToFix([difference!]);
  const hints = {
    foreign: `another program has created it, or the ledger was lost: see migrate repair; otherwise ${way}`,
    gone: `${way}, then run it again`,
    changed:
      "something else has changed it, or the table or the ledger was restored; migrate verify shows since when, and what to do",
  };
  return new MigrateError("ERR_DRIFT", { table, differences, hint: hint ?? guardHint(differences) ?? hints[kind] });
}
