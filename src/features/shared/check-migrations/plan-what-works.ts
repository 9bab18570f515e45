/** Plans all migrations as far as their steps can work, and reports the steps that can't. Pure. */
import { isMigrateError, MigrateError, type StepPlace } from "../../../errors/migrate-error.ts";
import type { Migration } from "../../../migrations/load.ts";
import { compileStep } from "../../../steps/registry.ts";
import { changesRows, tablesOfAction } from "../../../actions/apply-action.ts";
import type { SchemaRevision } from "../../../run/schema-history.ts";
import { change, type Database, type Table, type Tables } from "../../../schema/table.ts";
import { compileMigration, type Describing } from "../../../plan/compile/compile.ts";
import { upRun } from "../../../plan/history/migration-run.ts";
import { isExcused, missingIn, wordsInStep, type Doubt } from "./follow-up-errors.ts";
import { planMigration, type PlanInput, type PlannedMigration } from "../../../plan/make-plan.ts";

/** A migration as it was read. */
export interface Read {
  /** Its list of steps has holes where steps could not be read. */
  readonly migration: Migration;
  /** What could not be read: the number of a step, or 0 for something that is not one step. */
  readonly doubts: readonly PlacedDoubt[];
}

export interface PlacedDoubt extends Doubt {
  readonly step: number;
}

export interface Sound {
  /** The plans of all migrations with working steps, in order. */
  readonly migrations: readonly PlannedMigration[];
  /** The tables after all of these migrations. */
  readonly after: Database;
}

/**
 * Leaves out steps that can't work. Passes them to `refuse`, unless their problem only follows from another. `base`: the
 * tables before the first migration.
 */
export function planWhatWorks(
  all: readonly Read[],
  input: Planning["input"],
  refuse: (problem: MigrateError) => void,
  first: readonly Doubt[] = [],
  base: Database = new Map(),
): Sound {
  const database = new Map(base);
  const doubts: Doubt[] = [...first];
  const migrations = all.flatMap(({ migration, doubts: own }) => {
    const leaving = [...own];
    const planned = planSteps(migration, database, { input, refuse, doubts, leaving });
    const isWhole = leaving.length === 0;
    doubts.push(...leaving);
    if (planned === undefined) return [];
    return isWhole && migration.down !== undefined
      ? [withDown(migration, planned, database, { input, refuse, doubts })]
      : [planned];
  });
  return { migrations, after: database };
}

interface Planning {
  readonly input: Pick<PlanInput, "state" | "inDoubt" | "target" | "ledger">;
  readonly refuse: (problem: MigrateError) => void;
  /** Doubts from earlier migrations. */
  readonly doubts: readonly Doubt[];
}

/** Plans without the `down` of the file. `leaving`: the doubts from this migration, to which this adds. */
function planSteps(
  migration: Migration,
  database: Map<string, Table>,
  { input, refuse, doubts, leaving }: Planning & { readonly leaving: PlacedDoubt[] },
): PlannedMigration | undefined {
  const { capabilities } = input.target;
  let steps = migration.steps;
  while (steps.some(() => true)) {
    const rest = { ...migration, steps, down: undefined };
    const before = tablesOf(rest, database, capabilities);
    try {
      return planMigration(upRun(rest, input.state, capabilities), database, input);
    } catch (error) {
      if (!isMigrateError(error)) throw error;
      change(database, before);
      const at = (error.details as Partial<StepPlace>).step;
      const step = at === undefined ? undefined : steps[at - 1];
      if (at === undefined || step === undefined) {
        refuse(error);
        leaving.push({ step: 0, text: wordsInStep(migration.steps) });
        return undefined;
      }
      const reason = isMigrateError(error.cause) ? error.cause : error;
      const earlier = leaving.filter((one) => one.step < at);
      const actions = compileStep(step);
      const excused = isExcused(reason, actions, [...doubts, ...earlier]);
      if (!excused) refuse(error);
      // A step that only changes rows makes no table or column that a later step may need.
      const text = actions.every(changesRows) ? "" : wordsInStep(step);
      leaving.push({ step: at, text, except: excused ? undefined : missingIn(reason) });
      steps = withHole(steps, at - 1);
    }
  }
  return undefined;
}

/** The items without that one. The others keep their positions. */
function withHole<Item>(items: readonly Item[], index: number): readonly Item[] {
  const rest: Item[] = [];
  items.forEach((item, at) => {
    if (at !== index) rest[at] = item;
  });
  return rest;
}

/** Plans again with the `down` of the file; keeps `planned` if that fails. */
function withDown(
  migration: Migration,
  planned: PlannedMigration,
  database: Map<string, Table>,
  { input, refuse, doubts }: Planning,
): PlannedMigration {
  const { capabilities } = input.target;
  const after = tablesOf(migration, database, capabilities);
  change(database, tablesBefore(planned));
  try {
    return planMigration(upRun(migration, input.state, capabilities), database, input);
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    change(database, after);
    // With doubts about one of its tables, it is unknown what `down` should lead back to.
    const missing = (table: string) => new MigrateError("ERR_TABLE_MISSING", { table });
    if (![...after.keys()].some((table) => isExcused(missing(table), [], doubts))) refuse(error);
    return planned;
  }
}

/** The tables that a migration changes, as they are after it. */
export function revisionOf({ migration, actions }: PlannedMigration): SchemaRevision {
  const { version, name, checksum } = migration;
  return { version, name, checksum, changed: new Map(actions.flatMap(({ after }) => [...after])) };
}

/** The tables that a migration touches, as they are before its first action. */
export function tablesBefore({ actions }: PlannedMigration): Tables {
  const first = new Map<string, Table | undefined>();
  for (const [name, table] of actions.flatMap(({ before }) => [...before]))
    if (!first.has(name)) first.set(name, table);
  return first;
}

/** The tables that a migration touches, as they are in the database now. */
function tablesOf(migration: Migration, database: Database, capabilities: Describing): Tables {
  const names = compileMigration(migration, capabilities).flatMap(({ action }) => tablesOfAction(action));
  return new Map(names.map((name) => [name, database.get(name)]));
}
