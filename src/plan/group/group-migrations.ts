/**
 * Groups pending migrations that run as one, with fewer calls than they have actions and the same result. A group makes
 * one call for each of its tables. The ledger states its migrations before the first call. So if the run is killed, each
 * table is as before the group or as after it, and the next run makes the calls that are left. Pure.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import type { PlannedAction, PlannedMigration } from "../make-plan.ts";
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
  /** The last migration that changes the table, and which of its actions does, counted from 1. */
  readonly of: PlannedMigration;
  readonly number: number;
}

/** What a run executes in one piece. */
export type Unit = MigrationGroup | PlannedMigration;

export function isGroup(unit: Unit): unit is MigrationGroup {
  return "calls" in unit;
}

/** The migrations of a unit. */
export function migrationsOfUnit(unit: Unit): readonly PlannedMigration[] {
  return isGroup(unit) ? unit.migrations : [unit];
}

interface Grouping {
  readonly capabilities: Capabilities;
  /** The versions of the group in doubt, which must run as one. */
  readonly begun: ReadonlySet<number>;
  /** Whether no other group may be formed. */
  readonly stepByStep: boolean;
}

/** Throws ERR_GROUP_CHANGED if the group in doubt can't run as one any more. */
export function groupMigrations(
  migrations: readonly PlannedMigration[],
  { capabilities, begun, stepByStep }: Grouping,
): readonly Unit[] {
  const isBegun = ({ migration }: PlannedMigration) => begun.has(migration.version);
  const first = migrations.filter(isBegun);
  const others = migrations.filter((planned) => !isBegun(planned));
  return [
    ...(first.length === 0 ? [] : [resumedGroup(first, capabilities)]),
    // A target that can't describe its tables would not show which calls of a group were made.
    ...(stepByStep || !capabilities.describes ? others : grouped(others, capabilities)),
  ];
}

function resumedGroup(migrations: readonly PlannedMigration[], capabilities: Capabilities): MigrationGroup {
  const group = migrations.reduce<OpenGroup | undefined>(
    (open, planned) => open && withMigration(open, planned, capabilities),
    nothing,
  );
  if (group !== undefined) return closed(group, true);
  const [from, until] = [migrations[0]!, migrations.at(-1)!].map(({ migration }) => formatMigration(migration));
  throw new MigrateError("ERR_GROUP_CHANGED", { from: from!, until: until! });
}

/** Puts as many migrations as possible into each group. */
function grouped(migrations: readonly PlannedMigration[], capabilities: Capabilities): readonly Unit[] {
  const units: Unit[] = [];
  let open = nothing;
  const close = () => {
    if (isWorthwhile(open)) units.push(closed(open, false));
    else units.push(...open.migrations);
    open = nothing;
  };
  for (const planned of migrations) {
    const wider = mayBegin(planned) ? withMigration(open, planned, capabilities) : undefined;
    if (wider !== undefined) {
      open = wider;
      continue;
    }
    close();
    const alone = mayBegin(planned) ? withMigration(nothing, planned, capabilities) : undefined;
    if (alone === undefined) units.push(planned);
    else open = alone;
  }
  close();
  return units;
}

interface OpenGroup {
  readonly migrations: PlannedMigration[];
  readonly tables: ReadonlyMap<string, FoldedTable>;
}

interface FoldedTable {
  readonly own: TableActions;
  /** Null if the table does not change. */
  readonly call: GroupCall | null;
}

const nothing: OpenGroup = { migrations: [], tables: new Map() };

/** Whether nothing of the migration has run, and its rollback needs no version from between the group's migrations. */
function mayBegin({ direction, done, midway, inDoubt, restores }: PlannedMigration): boolean {
  return direction === "up" && done === 0 && midway === undefined && !inDoubt && restores.length === 0;
}

/** The group with one more migration; undefined if that one can't be part of it. */
function withMigration(group: OpenGroup, planned: PlannedMigration, capabilities: Capabilities): OpenGroup | undefined {
  const changed = new Map<string, { readonly own: TableActions; readonly number: number }>();
  for (const [index, action] of planned.actions.entries()) {
    const { table } = action.action;
    const isLost = action.rollback?.class === "restore" || action.rollback?.class === "none";
    if (action.refusal !== undefined || isLost) return undefined;
    const own = withAction((changed.get(table) ?? group.tables.get(table))?.own, action);
    if (own === undefined) return undefined;
    changed.set(table, { own, number: index + 1 });
  }
  const folded = new Map<string, FoldedTable>();
  for (const [table, { own, number }] of changed) {
    const action = foldActions(own, capabilities);
    if (action === undefined) return undefined;
    folded.set(table, { own, call: action && { action, of: planned, number } });
  }
  return { migrations: [...group.migrations, planned], tables: new Map([...group.tables, ...folded]) };
}

/** Whether the group writes less than its migrations would one by one. It needs a record that states its migrations. */
function isWorthwhile({ migrations, tables }: OpenGroup): boolean {
  const actions = migrations.reduce((sum, planned) => sum + planned.actions.length, 0);
  const calls = [...tables.values()].filter(({ call }) => call !== null).length;
  const records = 2;
  return calls + records < actions + migrations.length;
}

function closed({ migrations, tables }: OpenGroup, inDoubt: boolean): MigrationGroup {
  const calls = [...tables.values()].flatMap(({ call }) => call ?? []);
  return { migrations, calls, inDoubt };
}
