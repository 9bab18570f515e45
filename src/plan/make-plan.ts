/** From migrations to actions with the tables before and after each: every refusal happens here. Pure. */
import { MigrateError, type StepPlace } from "../errors/migrate-error.ts";
import type { LedgerState } from "../ledger/state/fold.ts";
import type { PartialAction, TableVersions } from "../ledger/state/record.ts";
import type { Migration } from "../migrations/load.ts";
import type { Action } from "../actions/model/action.ts";
import { changesRows, describeAction, risksOf, tablesAfter, tablesOfAction } from "../actions/apply-action.ts";
import { isReserved } from "../actions/rewrite/append-guard.ts";
import { parsePath } from "../schema/path.ts";
import { reservedProblem } from "../schema/reserved-metadata.ts";
import type { Risk } from "../actions/model/risk.ts";
import { change, databaseOf, mayLookAlike, type Database, type Table, type Tables } from "../schema/table.ts";
import type { Capabilities } from "../targets/contract/target.ts";
import { missingCall } from "./compile/capability-check.ts";
import { proofOf, type Proof } from "./compile/undescribed.ts";
import { planCommits, statesBetween, type PlannedCommit } from "./commits/commits.ts";
import { classify, type ActionRollback } from "./rollback/rollback-class.ts";
import type { PlacedAction, Direction } from "./compile/compile.ts";
import { downRun, upRun, type MigrationRun } from "./history/migration-run.ts";
import { foldEach, placed } from "./history/replay.ts";
import type { Refusal } from "./refusal.ts";
import { takenBack } from "./explain-irreversible.ts";
import { lineagesOf, type Lineage } from "./compile/table-lineage.ts";
import { rollbackOf, type PlacedObstacle } from "./rollback/rollback.ts";
import { unseenOf } from "./compile/unseen-effects.ts";
import { withoutVectors } from "./compile/vector-index-check.ts";
import { commitsOfBegun } from "./commits/commit-progress.ts";

export interface PlannedAction {
  readonly place: StepPlace;
  readonly action: Action;
  /** What a version is restored to undo: what the migration did to that table. */
  readonly undoes?: readonly Action[] | undefined;
  /** The action in words. */
  readonly text: string;
  /** What people should know before it runs. */
  readonly risks: readonly Risk[];
  /** How it would be taken back; absent of what takes something back itself. */
  readonly rollback?: ActionRollback | undefined;
  /** Why it may not run, as far as it was asked. */
  readonly refusal?: Refusal | undefined;
  /** The commits that it takes, as far as is known before it begins. */
  readonly commits: readonly PlannedCommit[];
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
  readonly direction: Direction;
  /** What the ledger keeps hashes of. */
  readonly units: readonly unknown[];
  /** Actions that the ledger records as done, or that were found done. */
  readonly done: number;
  readonly total: number;
  /** How many units have begun once the first, the second, … action is done. */
  readonly begun: readonly number[];
  /** Rows that may stand in the way. */
  readonly obstacles: readonly PlacedObstacle[];
  /** The others, in order. */
  readonly actions: readonly PlannedAction[];
  /** How far the ledger knows the first of them to have got, where that takes several commits. */
  readonly midway: PartialAction | undefined;
  /** Whether its first action may have run without having been recorded. */
  readonly doubtful: boolean;
  /** The last action that was found done and is not recorded: the run that carried it out may not have checked what it did. */
  readonly found?: PlannedAction | undefined;
  readonly attempt: number;
  /** Of a rollback that has begun: the version that each table had then which is restored. */
  readonly startedAt?: TableVersions | undefined;
  /** What takes it back as its file says, in words; its actions do not say that then. */
  readonly writtenDown?: readonly string[] | undefined;
  /** Tables of which the version before it has to be known, should it be taken back. */
  readonly restores: readonly string[];
  /** What the ledger knows of its tables' versions. */
  readonly tables: TableVersions;
}

export interface Plan {
  readonly migrations: readonly PlannedMigration[];
  /** The database as the ledger says it is now. */
  readonly now: Database;
  /** What goes, or is put back, with what is taken back, as was accepted: in words. */
  readonly accepted?: readonly string[] | undefined;
  /** Rows that stand in the way of taking it back, in words, and what lets it go on: so it is refused. */
  readonly blocked?: { readonly problems: readonly string[]; readonly hint: string } | undefined;
}

export interface PlanInput {
  /** All migrations that the ledger knows and that are to run, by version. */
  readonly migrations: readonly Migration[];
  /** What is to be done, or with the direction `down` taken back, in this order; what is being taken back always is. */
  readonly pending: readonly Migration[];
  readonly direction?: Direction | undefined;
  /** Whether rows that came since are put back on versions that are restored; true by default. */
  readonly putsBack?: boolean | undefined;
  readonly state: LedgerState;
  /** Versions that may have run without being recorded. */
  readonly doubtful: ReadonlySet<number>;
  readonly target: { readonly name: string; readonly capabilities: Capabilities };
  /** The ledger's table, which no migration may touch. */
  readonly ledger: string;
}

export function makePlan(input: PlanInput): Plan {
  const { migrations, pending, direction = "up", putsBack, state } = input;
  const { capabilities } = input.target;
  const back = new Map<Migration, () => MigrationRun>();
  const now = foldEach(migrations, state, capabilities, (migration, before) => {
    const isBack = direction === "down" || state.migrations.get(migration.version)?.reversal !== undefined;
    if (isBack && pending.includes(migration))
      back.set(migration, downRun(migration, before, state, capabilities, putsBack));
  });
  const database = new Map(now);
  const plan = (migration: Migration) => {
    const course = back.get(migration)?.() ?? upRun(migration, state, capabilities);
    checkVectors(course);
    return planMigration(course, database, input);
  };
  const planned = pending.map((migration, index) =>
    back.has(migration) ? takenBack(index, () => plan(migration)) : plan(migration),
  );
  return { migrations: planned, now };
}

/** What has begun may have been waiting for rows. Throws ERR_STEP_IMPOSSIBLE. */
export function checkVectors({
  direction,
  actions,
  done,
  attempt,
}: Pick<MigrationRun, "direction" | "actions" | "done" | "attempt">): void {
  if (direction === "down" || done > 0 || attempt > 1) return;
  const [first] = withoutVectors(actions.map(({ action }) => action));
  if (first === undefined) return;
  const [index, problem] = first;
  throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...actions[index]!.place, problem });
}

/** One migration on the database as it is then, which is carried on to what it is afterwards. */
export function planMigration(
  { actions, done, midway, ...course }: MigrationRun,
  database: Map<string, Table>,
  { state, doubtful, target, ledger }: Pick<PlanInput, "state" | "doubtful" | "target" | "ledger">,
): PlannedMigration {
  const { capabilities } = target;
  const { migration } = course;
  const left = actions.slice(done);
  const writtenDown = done === 0 ? writtenRollback({ ...course, actions }, database, capabilities) : undefined;
  for (const { place, action } of left) {
    checkAllowed(place, action, target, ledger);
    checkMetadata(place, action, course.direction);
  }
  const isDerived = course.direction === "up" && migration.down === undefined;
  const lineages = isDerived ? lineagesOf(actions.map(({ action }) => action)).slice(done) : undefined;
  const planned = planActions(left, database, target, lineages);
  return {
    ...course,
    done,
    total: actions.length,
    actions: withMidway(planned, midway, capabilities),
    restores: [...new Set(planned.flatMap(({ rollback }) => rollback?.restores ?? []))],
    tables: state.migrations.get(migration.version)?.tables ?? {},
    midway,
    doubtful: doubtful.has(migration.version),
    writtenDown,
  };
}

/** Whoever says himself how a migration is taken back hears before it runs that this would be no way back. */
function writtenRollback(
  { direction, migration, actions }: Pick<MigrationRun, "direction" | "migration" | "actions">,
  before: Database,
  capabilities: Capabilities,
): readonly string[] | undefined {
  if (direction === "down" || migration.down === undefined) return undefined;
  return rollbackOf(migration, actions.length, before, capabilities).actions.map(({ action }) =>
    describeAction(action),
  );
}

/**
 * The actions of one migration with the tables around them. Carries `database` on: to copy it for each would take seconds
 * with thousands of tables.
 */
function planActions(
  actions: readonly PlacedAction[],
  database: Map<string, Table>,
  { name, capabilities }: PlanInput["target"],
  /** Of actions that have to say how they are taken back. */
  lineages: readonly Lineage[] | undefined,
): readonly PlannedAction[] {
  const { describes, refuses } = capabilities;
  const touched = [...new Set(actions.flatMap(({ action }) => tablesOfAction(action)))];
  const look = (names: readonly string[] = touched): Tables => new Map(names.map((name) => [name, database.get(name)]));
  const start = look();
  // What the tables looked like since the ledger was written last.
  let window = [start];
  const planned = actions.map(({ place, action, undoes }, index): PlannedAction => {
    const own = tablesOfAction(action);
    const state = look();
    const before = look(own);
    const tables = placed(place, () => tablesAfter(database, action));
    change(database, tables);
    const commits = placed(place, () => planCommits(action, before, capabilities));
    const after = look(own);
    // The tables that have changed come first: they nearly always tell.
    const between = statesBetween(commits);
    const whole = (tables: Tables): Tables => new Map([...look(), ...tables]);
    const again = [...between, after].some((tables) =>
      window.some((seen) => mayLookAlike(tables, seen) && mayLookAlike(whole(tables), seen)),
    );
    // No look tells that rows were changed: who took over would be at that while a late call makes what comes after it. And
    // what a look does not show of an action is asked for while the table is as that action leaves it.
    const last = actions[index - 1]?.action;
    const isSilent = last !== undefined && (changesRows(last) || unseenOf(last) !== undefined);
    const recordFirst = index > 0 && (!describes || again || isSilent);
    window = [...(recordFirst ? [state] : window), ...between.map(whole), look()];
    const was = before.get(action.table);
    const reason = refuses?.(action, was);
    if (reason !== undefined) throw new MigrateError("ERR_UNSUPPORTED", { ...place, target: name, reason });
    const risks = risksOf(action, was, (kind) => capabilities.actions[kind] === true);
    const proof = describes ? undefined : proofOf(action, was);
    const text = describeAction(action);
    return { place, action, undoes, text, risks, commits, before, after, recordFirst, proof };
  });
  if (lineages === undefined) return planned;
  const rollbacks = classify(actions, lineages, databaseOf(start), capabilities);
  return planned.map((one, index) => ({ ...one, rollback: rollbacks[index] }));
}

/** The first action as the ledger knows it midway: what it keeps of it is known to nobody else, and not done without. */
function withMidway(
  actions: readonly PlannedAction[],
  midway: PartialAction | undefined,
  capabilities: Capabilities,
): readonly PlannedAction[] {
  const [first, ...others] = actions;
  if (first === undefined || midway === undefined) return actions;
  return [{ ...first, ...commitsOfBegun(first.action, first.before, midway, capabilities) }, ...others];
}

/** Refuses what is the ledger's, and what the target can't do: the action, or the commits that it takes. */
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
  const reason = missingCall(action, target.capabilities);
  if (reason !== undefined) throw new MigrateError("ERR_UNSUPPORTED", { ...place, target: target.name, reason });
}

/** Removing a key that is there only because a migration has set it is a way back, so it works. */
function checkMetadata(place: StepPlace, action: Action, direction: Direction): void {
  if (action.kind !== "setMetadata") return;
  for (const [key, value] of action.updates.flatMap(({ metadata }) => Object.entries(metadata))) {
    const problem = direction === "down" && value === null ? undefined : reservedProblem(key, value);
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
    default:
      return [];
  }
}
