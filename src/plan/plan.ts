/** From migrations to actions with the tables before and after each: every refusal happens here. Pure. */
import { isMigrateError, MigrateError, type StepPlace } from "../errors.ts";
import type { LedgerState } from "../ledger/fold.ts";
import type { Migration } from "../migrations/load.ts";
import { describeAction, risksOf, tablesAfter, tablesOfAction, type Action } from "../schema/action.ts";
import type { Risk } from "../schema/risk.ts";
import { sameTables, type Database, type Table, type Tables } from "../schema/table.ts";
import type { Capabilities } from "../targets/target.ts";
import { proofOf, type Proof } from "./blind.ts";
import { compileMigration, type Describing, type PlacedAction } from "./compile.ts";

export interface PlannedAction {
  readonly place: StepPlace;
  readonly action: Action;
  /** The action in words. */
  readonly text: string;
  /** What people should know before it runs. */
  readonly risks: readonly Risk[];
  /** The tables that it touches, around it. */
  readonly before: Tables;
  readonly after: Tables;
  /** What came before has to be recorded first: afterwards a look at the tables could not tell how far the run got. */
  readonly recordFirst: boolean;
  /** How to find out whether it has run, where the target can't describe its tables. */
  readonly proof: Proof | undefined;
}

export interface PlannedMigration {
  readonly migration: Migration;
  /** Actions that the ledger records as done, or that were found done. */
  readonly done: number;
  readonly total: number;
  /** How many steps have begun once the first, the second, … action is done. */
  readonly begun: readonly number[];
  /** The others, in order. */
  readonly actions: readonly PlannedAction[];
  /** Whether its first action may have run without having been recorded. */
  readonly doubtful: boolean;
  readonly attempt: number;
}

export interface Plan {
  readonly migrations: readonly PlannedMigration[];
  /** The database as the ledger says it is now. */
  readonly now: Database;
}

export interface PlanInput {
  /** All migrations that the ledger knows and that are to run, by version. */
  readonly migrations: readonly Migration[];
  readonly pending: readonly Migration[];
  readonly state: LedgerState;
  /** Versions that may have run without being recorded. */
  readonly doubtful: ReadonlySet<number>;
  readonly target: { readonly name: string; readonly capabilities: Capabilities };
  /** The ledger's table, which no migration may touch. */
  readonly ledger: string;
}

export function makePlan({ migrations, pending, state, doubtful, target, ledger }: PlanInput): Plan {
  const now = foldHistory(migrations, state, target.capabilities);
  const database = new Map(now);
  const planned = pending.map((migration): PlannedMigration => {
    const known = state.migrations.get(migration.version);
    const compiled = compileMigration(migration, target.capabilities);
    const done = known?.step ?? 0;
    for (const { place, action } of compiled.slice(done)) checkAllowed(place, action, target, ledger);
    return {
      migration,
      done,
      total: compiled.length,
      begun: compiled.map(({ place }) => place.step),
      actions: planActions(compiled.slice(done), database, target),
      doubtful: doubtful.has(migration.version),
      attempt: (known?.attempt ?? 0) + 1,
    };
  });
  return { migrations: planned, now };
}

/** The actions of one migration with the tables around them; carries `database` on. */
function planActions(
  actions: readonly PlacedAction[],
  database: Map<string, Table>,
  { name, capabilities: { describes, refuses } }: PlanInput["target"],
): readonly PlannedAction[] {
  const touched = [...new Set(actions.flatMap(({ action }) => tablesOfAction(action)))];
  const look = (names: readonly string[] = touched): Tables => new Map(names.map((name) => [name, database.get(name)]));
  // What the tables looked like since the ledger was written last.
  let window = [look()];
  return actions.map(({ place, action }, index) => {
    const own = tablesOfAction(action);
    const state = look();
    const before = look(own);
    applyAt(place, database, action);
    const after = look(own);
    // The tables that have changed come first: they nearly always tell.
    const again = window.some((seen) => sameTables(after, seen) && sameTables(look(), seen));
    const recordFirst = index > 0 && (!describes || again);
    window = [...(recordFirst ? [state] : window), look()];
    const was = before.get(action.table);
    const reason = refuses?.(action, was);
    if (reason !== undefined) throw new MigrateError("ERR_UNSUPPORTED", { ...place, target: name, reason });
    const risks = risksOf(action, was);
    const proof = describes ? undefined : proofOf(action, was);
    return { place, action, text: describeAction(action), risks, before, after, recordFirst, proof };
  });
}

/** The database after what the ledger records, in the order in which it ran. */
export function foldHistory(migrations: readonly Migration[], state: LedgerState, describing: Describing): Database {
  const database = new Map<string, Table>();
  for (const migration of inOrder(migrations, state)) {
    const { status, step } = state.migrations.get(migration.version)!;
    const actions = compileMigration(migration, describing);
    for (const { place, action } of status === "applied" ? actions : actions.slice(0, step))
      applyAt(place, database, action);
  }
  return database;
}

/** Those that have run, at least in part, in the order in which they did. */
export function inOrder(migrations: readonly Migration[], state: LedgerState): readonly Migration[] {
  const orderOf = ({ version }: Migration) => state.migrations.get(version)?.order;
  return migrations
    .filter((migration) => orderOf(migration) !== undefined)
    .toSorted((one, other) => orderOf(one)! - orderOf(other)!);
}

/** Puts tables in the place of those that are there. */
export function change(database: Map<string, Table>, tables: Tables): void {
  for (const [name, table] of tables)
    if (table === undefined) database.delete(name);
    else database.set(name, table);
}

/** Changes `database`: copying it for every action would take seconds with thousands of tables. */
function applyAt(place: StepPlace, database: Map<string, Table>, action: Action): void {
  try {
    change(database, tablesAfter(database, action));
  } catch (cause) {
    if (!isMigrateError(cause)) throw cause;
    throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem: cause.message }, { cause });
  }
}

function checkAllowed(place: StepPlace, action: Action, target: PlanInput["target"], ledger: string): void {
  const own = tablesOfAction(action).find((table) => table === ledger || table.startsWith(`${ledger}.`));
  if (own !== undefined)
    throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem: `table ${own} is the ledger's` });
  const able = target.capabilities.actions[action.kind];
  if (able !== true) throw new MigrateError("ERR_UNSUPPORTED", { ...place, target: target.name, reason: able });
}
