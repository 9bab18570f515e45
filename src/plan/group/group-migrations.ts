/**
 * Groups pending migrations that run as one, with fewer calls than they have actions and the same result. A group makes
 * one call for each of its tables. The ledger states its migrations before the first call. So if the run is killed, each
 * table is as before the group or as after it, and the next run makes the calls that are left. Pure.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { mayHaveBegun } from "../history/progress.ts";
import type { Plan, PlannedAction, PlannedMigration } from "../make-plan.ts";
import { foldActions, withAction, type TableActions } from "./fold-actions.ts";

/** Migrations that run as one, in order. */
export interface MigrationGroup {
  readonly migrations: readonly PlannedMigration[];
  /** One for each table that changes, in the order in which the tables are first touched. They are independent. */
  readonly calls: readonly GroupCall[];
  /** Whether a run that was stopped may have made some of the calls. */
  readonly inDoubt: boolean;
}

export interface GroupCall {
  readonly action: PlannedAction;
  /** The first migration that changes the table. */
  readonly first: PlannedMigration;
  /** The last one, and which of its actions does, counted from 1. */
  readonly last: PlannedMigration;
  readonly number: number;
}

/** What a run executes in one piece. */
export type MigrationBatch = MigrationGroup | PlannedMigration;

export function isGroup(unit: MigrationBatch): unit is MigrationGroup {
  return "calls" in unit;
}

/** The migrations of a unit. */
export function migrationsInBatch(unit: MigrationBatch): readonly PlannedMigration[] {
  return isGroup(unit) ? unit.migrations : [unit];
}

/** A plan with the groups as which its migrations would run. */
export interface GroupedPlan extends Plan {
  readonly groups?: readonly MigrationGroup[] | undefined;
}

export function groupsIn(units: readonly MigrationBatch[] = []): readonly MigrationGroup[] {
  return units.filter(isGroup);
}

/** The calls that no run has made yet: those on tables that its migrations still change. */
export function callsLeft({ migrations, calls }: MigrationGroup): readonly PlannedAction[] {
  const left = new Set(migrations.flatMap(({ actions }) => actions.map(({ action }) => action.table)));
  return calls.map(({ action }) => action).filter(({ action }) => left.has(action.table));
}

interface Grouping {
  readonly capabilities: Capabilities;
  /** The versions of the group in doubt, which must run as one. */
  readonly begun: ReadonlySet<number>;
  /** Whether no other group may be formed. */
  readonly stepByStep: boolean;
}

/** The migrations in their order. Throws ERR_GROUP_CHANGED if the group in doubt can't run as one any more. */
export function groupMigrations(
  migrations: readonly PlannedMigration[],
  { capabilities, begun, stepByStep }: Grouping,
): readonly MigrationBatch[] {
  const at = migrations.findIndex(({ migration }) => begun.has(migration.version));
  const before = at === -1 ? [] : migrations.slice(0, at);
  const rest = migrations.slice(before.length).filter(({ migration }) => !begun.has(migration.version));
  const members = migrations.filter(({ migration }) => begun.has(migration.version));
  return [
    ...before,
    ...(members.length === 0 ? [] : [resumedGroup(members, capabilities)]),
    // A target that can't describe its tables would not show which calls of a group were made.
    ...(stepByStep || !capabilities.describes ? rest : grouped(rest, capabilities)),
  ];
}

function resumedGroup(migrations: readonly PlannedMigration[], capabilities: Capabilities): MigrationGroup {
  const open = emptyGroup();
  const group = migrations.every((planned) => add(planned, open)) ? closed(open, capabilities, true) : undefined;
  if (group !== undefined) return group;
  const [from, until] = [migrations[0]!, migrations.at(-1)!].map(({ migration }) => formatMigration(migration));
  throw new MigrateError("ERR_GROUP_CHANGED", { from: from!, until: until! });
}

/** Puts as many migrations as possible into each group. */
function grouped(migrations: readonly PlannedMigration[], capabilities: Capabilities): readonly MigrationBatch[] {
  const units: MigrationBatch[] = [];
  let open = emptyGroup();
  const close = () => {
    const group = closed(open, capabilities, false);
    units.push(...(group !== undefined && isWorthwhile(group) ? [group] : open.migrations));
    open = emptyGroup();
  };
  for (const planned of migrations) {
    if (mayBegin(planned)) {
      if (add(planned, open)) continue;
      close();
      if (add(planned, open)) continue;
    } else close();
    units.push(planned);
  }
  close();
  return units;
}

/** A group to which migrations are still added. */
interface OpenGroup {
  readonly migrations: PlannedMigration[];
  readonly tables: Map<string, OwnTable>;
}

/** What the group does to a table so far. */
interface OwnTable extends Pick<GroupCall, "first" | "last" | "number"> {
  readonly own: TableActions;
}

const emptyGroup = (): OpenGroup => ({ migrations: [], tables: new Map() });

/** Whether nothing of the migration has run. */
function mayBegin(planned: PlannedMigration): boolean {
  return planned.direction === "up" && !mayHaveBegun(planned);
}

/** Adds the migration to the group. False, and nothing is added, if that can't be part of it. */
function add(planned: PlannedMigration, { migrations, tables }: OpenGroup): boolean {
  const changed = new Map<string, OwnTable>();
  for (const [index, action] of (planned.whole ?? planned.actions).entries()) {
    const { table } = action.action;
    // Such a rollback would need a version from between the group's migrations.
    const isLost = action.rollback?.class === "restore" || action.rollback?.class === "none";
    const known = changed.get(table) ?? tables.get(table);
    const own = action.refusal === undefined && !isLost ? withAction(known?.own, action) : undefined;
    if (own === undefined) return false;
    changed.set(table, { own, first: known?.first ?? planned, last: planned, number: index + 1 });
  }
  migrations.push(planned);
  for (const [table, own] of changed) tables.set(table, own);
  return true;
}

/** The group; undefined if a table would need several calls. */
function closed(
  { migrations, tables }: OpenGroup,
  capabilities: Capabilities,
  inDoubt: boolean,
): MigrationGroup | undefined {
  const calls: GroupCall[] = [];
  for (const { own, first, last, number } of tables.values()) {
    const action = foldActions(own, capabilities);
    if (action === undefined) return undefined;
    if (action !== null) calls.push({ action, first, last, number });
  }
  return { migrations, calls, inDoubt };
}

/** Whether the group writes less than its migrations would one by one. It needs a record that states its migrations. */
function isWorthwhile({ migrations, calls }: MigrationGroup): boolean {
  const actions = migrations.reduce((sum, planned) => sum + planned.actions.length, 0);
  const records = 2;
  return calls.length + records < actions + migrations.length;
}
