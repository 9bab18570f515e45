/** The plan against the tables as they are: how far a run that was never heard of again got, and drift. Pure. */
import { MigrateError } from "../errors.ts";
import { sameTable, type Table } from "../schema/table.ts";
import type { Plan, PlannedAction, PlannedMigration } from "./plan.ts";
import { differencesOf, putRight } from "./put-right.ts";

/** Tables as they were seen; undefined for one that does not exist. */
export type Sights = ReadonlyMap<string, Table | undefined>;

/** The tables that a plan will touch. */
export function touchedTables({ migrations }: Plan): readonly string[] {
  return [...new Set(migrations.flatMap(({ actions }) => actions.map(({ action }) => action.table)))];
}

/** The plan without what turns out to be done. Throws ERR_DRIFT when a table is neither as before nor as after. */
export function settlePlan(plan: Plan, sights: Sights): Plan {
  const accounted = new Set<string>();
  const migrations = plan.migrations.map((planned) => {
    const own = touchedTables({ ...plan, migrations: [planned] });
    const found = planned.doubtful ? progress(planned.actions, sights) : 0;
    // A table that this migration was found to have reached is as it should be; the others have to be as before.
    if (found !== undefined && found > 0) for (const table of own) accounted.add(table);
    return found === undefined || found === 0 ? planned : settled(planned, found);
  });
  for (const table of touchedTables(plan)) if (!accounted.has(table)) checkDrift(plan, table, sights.get(table));
  return { migrations, now: withFound(plan, migrations) };
}

/** The database after the ledger and what was found done beyond it. */
function withFound({ now, migrations }: Plan, settled: readonly PlannedMigration[]): Plan["now"] {
  const found = migrations.flatMap(({ actions, done }, index) => actions.slice(0, settled[index]!.done - done));
  return new Map([...now, ...found.map(({ action, after }) => [action.table, after!] as const)]);
}

/** How many of these actions ran: the one place in their row at which every table is as it is now. */
export function progress(actions: readonly PlannedAction[], sights: Sights): number | undefined {
  const expected = new Map<string, Table | undefined>();
  for (const { action, before } of actions) if (!expected.has(action.table)) expected.set(action.table, before);
  for (let done = 0; ; done++) {
    if ([...expected].every(([table, state]) => sameTable(state, sights.get(table)))) return done;
    const next = actions[done];
    // Past an action before which the ledger had to be written, the ledger would know.
    if (next === undefined || (done > 0 && next.recordFirst)) return undefined;
    expected.set(next.action.table, next.after);
  }
}

function settled(planned: PlannedMigration, found: number): PlannedMigration {
  return { ...planned, done: planned.done + found, actions: planned.actions.slice(found) };
}

/** The same check where only the list of tables is known: those that should be there are, and the others are not. */
export function checkPresence(plan: Plan, names: ReadonlySet<string>): void {
  // The one action that may have run without being recorded may have made its table.
  const begun = plan.migrations.find(({ doubtful }) => doubtful)?.actions[0]?.action;
  for (const table of touchedTables(plan)) {
    const expected = plan.now.get(table);
    if ((expected !== undefined) === names.has(table)) continue;
    if (begun?.kind === "createTable" && begun.table === table) continue;
    throw drift(table, expected && { columns: [] }, names.has(table) ? { columns: [] } : undefined);
  }
}

function checkDrift(plan: Plan, table: string, found: Table | undefined): void {
  const expected = plan.now.get(table);
  if (sameTable(expected, found)) return;
  const after = plan.migrations
    .flatMap(({ actions }) => actions)
    .findLast(({ action }) => action.table === table)?.after;
  const hint = sameTable(after, found)
    ? "the pending changes are there already: somebody has made them by hand, so take them back or remove the migration; or the ledger was lost or is older than the tables, so see migrate repair"
    : undefined;
  throw drift(table, expected, found, hint);
}

function drift(table: string, expected: Table | undefined, found: Table | undefined, hint?: string): MigrateError {
  const [difference] = differencesOf(table, expected, found);
  const { kind, differences } = difference!;
  const way = putRight([difference!]);
  const hints = {
    foreign: `somebody else has made it, or the ledger was lost: see migrate repair; otherwise ${way}`,
    gone: `${way}, then run migrate up again`,
    changed: "somebody has changed it by hand; put it back, then run migrate up again",
  };
  return new MigrateError("ERR_DRIFT", { table, differences, hint: hint ?? hints[kind] });
}
