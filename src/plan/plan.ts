/** From migrations to actions with the tables before and after each: every refusal happens here. Pure. */
import { isMigrateError, MigrateError, type StepPlace } from "../errors.ts";
import type { LedgerState } from "../ledger/fold.ts";
import type { Migration } from "../migrations/load.ts";
import { applyAction, describeAction, type Action } from "../schema/action.ts";
import { emptyDatabase, sameTable, type Database, type Table } from "../schema/table.ts";
import { compileStep } from "../steps/registry.ts";
import type { Capabilities } from "../targets/target.ts";

export interface PlannedAction {
  readonly place: StepPlace;
  readonly action: Action;
  /** The action in words. */
  readonly text: string;
  readonly before: Table | undefined;
  readonly after: Table | undefined;
  /** What came before has to be recorded first: afterwards a look at the tables could not tell how far the run got. */
  readonly recordFirst: boolean;
}

export interface PlannedMigration {
  readonly migration: Migration;
  /** Actions that the ledger records as done, or that were found done. */
  readonly done: number;
  readonly total: number;
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
  const now = foldHistory(migrations, state);
  let database = now;
  const planned = pending.map((migration): PlannedMigration => {
    const known = state.migrations.get(migration.version);
    const actions = compile(migration);
    const done = known?.step ?? 0;
    const steps: PlannedAction[] = [];
    let window = [database];
    for (const { place, action } of actions.slice(done)) {
      checkAllowed(place, action, target, ledger);
      const next = applyAt(place, database, action);
      const recordFirst =
        steps.length > 0 && (!target.capabilities.describes || window.some((seen) => sameDatabase(seen, next)));
      if (recordFirst) window = [database];
      window.push(next);
      const [before, after] = [database.get(action.table), next.get(action.table)];
      steps.push({ place, action, text: describeAction(action), before, after, recordFirst });
      database = next;
    }
    return {
      migration,
      done,
      total: actions.length,
      actions: steps,
      doubtful: doubtful.has(migration.version),
      attempt: (known?.attempt ?? 0) + 1,
    };
  });
  return { migrations: planned, now };
}

/** The database after what the ledger records, in the order in which it ran. */
export function foldHistory(migrations: readonly Migration[], state: LedgerState): Database {
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]));
  const ran = [...state.migrations.values()].toSorted((one, other) => one.order - other.order);
  return ran.reduce((database, { version, status, step }) => {
    const migration = byVersion.get(version);
    if (migration === undefined) return database;
    const actions = compile(migration);
    return foldActions(database, status === "applied" ? actions : actions.slice(0, step));
  }, emptyDatabase);
}

/** The database after all of these, one after the other, and nothing else. */
export function foldMigrations(migrations: readonly Migration[]): Database {
  return migrations.reduce((database, migration) => foldActions(database, compile(migration)), emptyDatabase);
}

interface PlacedAction {
  readonly place: StepPlace;
  readonly action: Action;
}

function compile({ file, steps }: Migration): readonly PlacedAction[] {
  return steps.flatMap((step, index) =>
    compileStep(step).map((action) => ({ place: { file, step: index + 1, kind: step.kind }, action })),
  );
}

function foldActions(database: Database, actions: readonly PlacedAction[]): Database {
  return actions.reduce((folded, { place, action }) => applyAt(place, folded, action), database);
}

function applyAt(place: StepPlace, database: Database, action: Action): Database {
  try {
    return applyAction(database, action);
  } catch (cause) {
    if (!isMigrateError(cause)) throw cause;
    throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem: cause.message }, { cause });
  }
}

function checkAllowed(place: StepPlace, action: Action, target: PlanInput["target"], ledger: string): void {
  if (action.table === ledger || action.table.startsWith(`${ledger}.`))
    throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem: `table ${action.table} is the ledger's` });
  const able = target.capabilities.actions[action.kind];
  if (able !== true) throw new MigrateError("ERR_UNSUPPORTED", { ...place, target: target.name, reason: able });
}

function sameDatabase(one: Database, other: Database): boolean {
  return one.size === other.size && [...one].every(([name, table]) => sameTable(table, other.get(name)));
}
