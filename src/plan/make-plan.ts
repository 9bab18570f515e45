/** Compiles migrations to a plan, with the tables before and after each action. Refuses what cannot work. Pure. */
import { MigrateError, type StepPlace } from "../errors/migrate-error.ts";
import { isHalfDone, type LedgerState } from "../ledger/state/ledger-state.ts";
import type { PartialAction, TableVersions } from "../ledger/state/record.ts";
import type { Migration } from "../migrations/load.ts";
import type { Action } from "../actions/model/action.ts";
import { changesRows, checkReads, describeAction, risksOf, tablesOfAction } from "../actions/apply-action.ts";
import { isReserved } from "../actions/rewrite/append-guard.ts";
import { isDeferralMark } from "../schema/deferred-index.ts";
import { parsePath } from "../schema/path.ts";
import { reservedProblem } from "../schema/reserved-metadata.ts";
import type { Risk } from "../actions/model/risk.ts";
import { databaseOf, mayLookAlike, type Database, type Table, type Tables } from "../schema/table.ts";
import type { Capabilities } from "../targets/contract/target.ts";
import { proofOf, type Proof } from "./compile/undescribed.ts";
import { planCommits, statesBetween, type PlannedCommit } from "./commits/commits.ts";
import { classify, type ActionRollback } from "./rollback/rollback-class.ts";
import { missingCall, type PlacedAction, type Direction } from "./compile/compile.ts";
import { downRun, upRun, type MigrationRun } from "./history/migration-run.ts";
import { replay, withPlace } from "./compile/replay.ts";
import type { PlannedProgress } from "./history/progress.ts";
import { replayEach } from "./history/replay.ts";
import { lineagesOf, type Lineage } from "../actions/follow.ts";
import { explainIrreversible, rollbackOf } from "./rollback/rollback.ts";
import type { CheckedContracts } from "./checked-contracts.ts";
import type { Refusal } from "./refusal.ts";
import { unseenOf } from "./compile/unseen-effects.ts";
import { commitsOfBegun } from "./commits/commit-progress.ts";

export interface PlannedAction {
  readonly place: StepPlace;
  readonly action: Action;
  /** Only on `restoreTable`: the migration's actions on that table, which the restore undoes. */
  readonly undoes?: readonly Action[] | undefined;
  /** The action as text. */
  readonly text: string;
  /** What users should know before it runs. */
  readonly risks: readonly Risk[];
  /** How it would be rolled back. Absent in a rollback, and if the migration's file exports `down`. */
  readonly rollback?: ActionRollback | undefined;
  /** How it would be rolled back without the `down` of the file. Whether something is lost does not depend on that. */
  readonly withoutDown?: Pick<ActionRollback, "class" | "reason"> | undefined;
  /** Why it may not replace what something other than a migration has given the table. */
  readonly replaced?: string | undefined;
  /** Why it may not run, as far as that was checked. */
  readonly refusal?: Refusal | undefined;
  /** The commits that it takes, as far as is known before it begins. */
  readonly commits: readonly PlannedCommit[];
  /** The tables that it touches, before and after it. */
  readonly before: Tables;
  readonly after: Tables;
  /**
   * Whether the progress so far must be recorded before it: afterwards the tables alone would not show how far the run
   * got.
   */
  readonly recordFirst: boolean;
  /** How to determine whether it has run, if the target cannot describe its tables. */
  readonly proof: Proof | undefined;
}

export interface PlannedMigration extends Omit<MigrationRun, "actions">, PlannedProgress {
  readonly total: number;
  /** The actions that are done. */
  readonly ran: readonly Action[];
  /** The actions that are left, in order. */
  readonly actions: readonly PlannedAction[];
  /** All of its actions, if it is part of a group in doubt. `actions` then lacks those on tables that the group has done. */
  readonly whole?: readonly PlannedAction[] | undefined;
  /** The last action that was found done without a record. Its run may not have checked its effects. */
  readonly found?: PlannedAction | undefined;
  /** The actions of the `down` that the file exports, as text. The actions of the migration then have no `rollback`. */
  readonly writtenDown?: readonly string[] | undefined;
  /** Tables whose version before the migration must be known for a later rollback. */
  readonly restores: readonly string[];
  /** The table versions that the ledger records for the migration. */
  readonly tables: TableVersions;
}

export interface Plan {
  readonly migrations: readonly PlannedMigration[];
  /** The database that the ledger implies now. */
  readonly now: Database;
  /** What the rollback loses or reinserts with the user's consent, as text. */
  readonly accepted?: readonly string[] | undefined;
  /** How many rows of each table are reinserted after a version of it is restored, as far as known; see `reinsertKey`. */
  readonly reinserted?: ReadonlyMap<string, number> | undefined;
  /** The rows that block the rollback, as text, and how to continue. A plan with this field is refused. */
  readonly blocked?: { readonly problems: readonly string[]; readonly hint: string } | undefined;
  /** Undefined if no contracts are configured or given. */
  readonly contracts?: CheckedContracts | undefined;
  /** Where the database is, if it has no tables yet: it may be another one than was meant. */
  readonly newDatabase?: string | undefined;
}

export interface PlanInput {
  /** The migrations that the ledger knows and those that are to run, by version. */
  readonly migrations: readonly Migration[];
  /**
   * The migrations to apply or, with the direction `down`, to roll back, in this order. One whose rollback has begun is
   * always rolled back.
   */
  readonly pending: readonly Migration[];
  readonly direction?: Direction | undefined;
  /** Whether rows written since are reinserted after an old version is restored; true by default. */
  readonly reinserts?: boolean | undefined;
  readonly state: Pick<LedgerState, "migrations">;
  /** The versions of the migrations in doubt. */
  readonly inDoubt: ReadonlySet<number>;
  readonly target: { readonly name: string; readonly capabilities: Capabilities };
  /** The ledger's table, which no migration may touch. */
  readonly ledger: string;
  /** Of a rollback: the tables as an action left them that stopped between its commits. */
  readonly found?: Tables | undefined;
}

export function makePlan(input: PlanInput): Plan {
  const { migrations, pending, direction = "up", reinserts, state, found } = input;
  const { capabilities } = input.target;
  const back = new Map<Migration, () => MigrationRun>();
  const now = replayEach(
    migrations,
    state,
    capabilities,
    (migration, before) => {
      const isBack = direction === "down" || state.migrations.get(migration.version)?.reversal !== undefined;
      if (isBack && pending.includes(migration))
        back.set(migration, downRun(migration, before, state, capabilities, reinserts));
    },
    direction,
    found,
  );
  const database = new Map(now);
  const plan = (migration: Migration) => {
    const run = back.get(migration)?.() ?? upRun(migration, state, capabilities);
    return planMigration(run, database, input);
  };
  const planned = pending.map((migration, index) => {
    if (!back.has(migration)) return plan(migration);
    const known = state.migrations.get(migration.version);
    const isBegun = known !== undefined && isHalfDone(known) && known.reversal === undefined;
    return explainIrreversible(pending.slice(0, index), isBegun, () => plan(migration));
  });
  return { migrations: planned, now };
}

/** Plans one migration on `database`, and updates `database` to the state after the migration. */
export function planMigration(
  run: MigrationRun,
  database: Map<string, Table>,
  { state, inDoubt, target, ledger }: Pick<PlanInput, "state" | "inDoubt" | "target" | "ledger">,
): PlannedMigration {
  const { capabilities } = target;
  const { migration, direction, actions, done, midway } = run;
  const left = actions.slice(done);
  const writtenDown = done === 0 ? writtenRollback(run, database, capabilities) : undefined;
  for (const { place, action } of left) {
    checkAllowed(place, action, target, ledger);
    checkMetadata(place, action, direction);
  }
  const lineages = direction === "up" ? lineagesOf(actions.map(({ action }) => action)).slice(done) : undefined;
  const derived = planActions(left, database, target, lineages);
  const planned =
    migration.down === undefined
      ? derived
      : derived.map(({ rollback, ...one }): PlannedAction => ({ ...one, withoutDown: rollback }));
  return {
    ...run,
    total: actions.length,
    ran: actions.slice(0, done).map(({ action }) => action),
    actions: withMidway(planned, midway, capabilities),
    restores: [...new Set(planned.flatMap(({ rollback }) => rollback?.restores ?? []))],
    tables: state.migrations.get(migration.version)?.tables ?? {},
    inDoubt: inDoubt.has(migration.version),
    writtenDown,
  };
}

/** The actions of the file's `down`, as text. A `down` that does not lead back is refused before the migration runs. */
function writtenRollback(
  { direction, migration, actions }: MigrationRun,
  before: Database,
  capabilities: Capabilities,
): readonly string[] | undefined {
  if (direction === "down" || migration.down === undefined) return undefined;
  return rollbackOf(migration, actions.length, before, capabilities).actions.map(({ action }) =>
    describeAction(action),
  );
}

/**
 * Plans the actions of one migration. Updates `database` in place: a copy for each action would take seconds with
 * thousands of tables.
 */
function planActions(
  actions: readonly PlacedAction[],
  database: Map<string, Table>,
  { name, capabilities }: PlanInput["target"],
  /** Undefined if the actions need no rollback class. */
  lineages: readonly Lineage[] | undefined,
): readonly PlannedAction[] {
  const { describes, refuses } = capabilities;
  const touched = [...new Set(actions.flatMap(({ action }) => tablesOfAction(action)))];
  const look = (names: readonly string[] = touched): Tables => new Map(names.map((name) => [name, database.get(name)]));
  const start = look();
  // The states of the tables since the last record in the ledger.
  let window = [start];
  const planned = replay(database, actions, ({ place, action, undoes }, before, _, index): PlannedAction => {
    withPlace(place, () => checkReads(database, action));
    const commits = withPlace(place, () => planCommits(action, before, capabilities));
    const after = look(tablesOfAction(action));
    // The changed tables are compared first, because they nearly always decide.
    const between = statesBetween(commits);
    const whole = (tables: Tables): Tables => new Map([...look(), ...tables]);
    const again = [...between, after].some((tables) =>
      window.some((seen) => mayLookAlike(tables, seen) && mayLookAlike(whole(tables), seen)),
    );
    // The tables do not show that rows were changed: without a record, another run would repeat that action while a
    // late call executes the next one. And effects that the tables do not show can be checked only while the table is
    // as that action leaves it.
    const last = actions[index - 1]?.action;
    const isSilent = last !== undefined && (changesRows(last) || unseenOf(last) !== undefined);
    const recordFirst = index > 0 && (!describes || again || isSilent);
    window = [...(recordFirst ? window.slice(-1) : window), ...between.map(whole), look()];
    const was = before.get(action.table);
    const reason = refuses?.(action, was);
    if (reason !== undefined) throw new MigrateError("ERR_UNSUPPORTED", { ...place, target: name, reason });
    const risks = risksOf(action, was, (kind) => capabilities.actions[kind] === true);
    const proof = describes ? undefined : proofOf(action);
    const text = describeAction(action);
    return { place, action, undoes, text, risks, commits, before, after, recordFirst, proof };
  });
  if (lineages === undefined) return planned;
  const rollbacks = classify(actions, lineages, databaseOf(start), capabilities);
  return planned.map((one, index) => ({ ...one, rollback: rollbacks[index] }));
}

/** Replans the first action if it has begun: what it must put back is known only from the ledger. */
function withMidway(
  actions: readonly PlannedAction[],
  midway: PartialAction | undefined,
  capabilities: Capabilities,
): readonly PlannedAction[] {
  const [first, ...others] = actions;
  if (first === undefined || midway === undefined) return actions;
  return [{ ...first, ...commitsOfBegun(first.action, first.before, midway, capabilities) }, ...others];
}

/** Refuses actions on the ledger's tables, reserved column names, and actions for which the target has no call. */
function checkAllowed(place: StepPlace, action: Action, target: PlanInput["target"], ledger: string): void {
  const own = tablesOfAction(action).find((table) => table === ledger || table.startsWith(`${ledger}.`));
  if (own !== undefined)
    throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem: `table ${own} is the ledger's` });
  const reserved = namesGiven(action).find(isReserved);
  if (reserved !== undefined)
    throw new MigrateError("ERR_STEP_IMPOSSIBLE", {
      ...place,
      problem: `no column can be called ${reserved}: one has that name for a moment while others are rewritten`,
    });
  const reason = missingCall(action, target.capabilities.actions);
  if (reason !== undefined) throw new MigrateError("ERR_UNSUPPORTED", { ...place, target: target.name, reason });
}

/** Refuses reserved metadata keys. A rollback may remove such a key: it exists only because a migration set it. */
function checkMetadata(place: StepPlace, action: Action, direction: Direction): void {
  if (action.kind !== "setMetadata") return;
  for (const [key, value] of action.updates.flatMap(({ metadata }) => Object.entries(metadata))) {
    const own = isDeferralMark(key) ? `the metadata key ${key} belongs to lance-migrate` : reservedProblem(key, value);
    const problem = direction === "down" && value === null ? undefined : own;
    if (problem !== undefined)
      throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem: `${problem}; leave it out` });
  }
}

/** The names that an action gives to columns. */
function namesGiven(action: Action): readonly string[] {
  switch (action.kind) {
    case "createTable":
    case "addColumns":
      return action.columns.map(({ name }) => name);
    case "addField":
      return parsePath(action.path).slice(-1);
    case "alterColumns":
      return action.alterations.flatMap(({ rename = [] }) => rename);
    case "switchColumn":
      return [action.keep];
    default:
      return [];
  }
}
