/** From migrations to actions with the tables before and after each: every refusal happens here. Pure. */
import { isMigrateError, MigrateError, type StepPlace } from "../errors.ts";
import type { LedgerState } from "../ledger/fold.ts";
import type { Migration } from "../migrations/load.ts";
import { describeAction, tableAfter, type Action } from "../schema/action.ts";
import { risksOf, type Risk } from "../schema/risk.ts";
import { sameTable, type Database, type Table } from "../schema/table.ts";
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
  readonly before: Table | undefined;
  readonly after: Table | undefined;
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
  const touched = [...new Set(actions.map(({ action }) => action.table))];
  const look = () => new Map(touched.map((table) => [table, database.get(table)]));
  // What the tables looked like since the ledger was written last.
  let window = [look()];
  return actions.map(({ place, action }, index) => {
    const { table } = action;
    const before = look();
    const after = applyAt(place, database, action);
    // The table that has changed comes first: it nearly always tells.
    const again = window.some(
      (seen) =>
        sameTable(seen.get(table), after) && touched.every((name) => sameTable(seen.get(name), database.get(name))),
    );
    const recordFirst = index > 0 && (!describes || again);
    window = [...(recordFirst ? [before] : window), look()];
    const was = before.get(table);
    const reason = refuses?.(action, was);
    if (reason !== undefined) throw new MigrateError("ERR_UNSUPPORTED", { ...place, target: name, reason });
    const risks = risksOf(action, was);
    const proof = describes ? undefined : proofOf(action, was);
    return { place, action, text: describeAction(action), risks, before: was, after, recordFirst, proof };
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

/** Changes `database`: copying it for every action would take seconds with thousands of tables. */
function applyAt(place: StepPlace, database: Map<string, Table>, action: Action): Table {
  try {
    const after = tableAfter(database, action);
    database.set(action.table, after);
    return after;
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
