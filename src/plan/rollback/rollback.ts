/** The rollback of a migration: its actions, last step first, and the rows that may block them. Pure. */
import { catchMigrateError, isMigrateError, MigrateError, type StepPlace } from "../../errors/migrate-error.ts";
import { formatMigration, type MigrationName } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Action } from "../../actions/model/action.ts";
import { tablesOfAction } from "../../actions/apply-action.ts";
import { differences, type Database, type Table } from "../../schema/table.ts";
import type { Blocker } from "../../actions/model/inverse.ts";
import { oneByOne } from "../compile/undescribed.ts";
import { actionsOf, compileMigration, type Describing, type PlacedAction } from "../compile/compile.ts";
import { replay } from "../compile/replay.ts";
import { lineagesOf } from "../../actions/follow.ts";
import {
  actionsOn,
  lostIn,
  unrestorable,
  inversesOf,
  wayOfLost,
  withOwnRows,
  type RestoreOptions,
} from "./restore-table.ts";

export interface Rollback {
  readonly actions: readonly PlacedAction[];
  readonly blockers: readonly PlacedBlocker[];
}

export interface PlacedBlocker {
  readonly place: StepPlace;
  readonly blocker: Blocker;
  /** How many of the rollback's actions come before the one that it blocks. */
  readonly at: number;
}

/** For when no old version can be restored. */
const noRestoring: RestoreOptions = { able: false, tables: {}, reinserts: false };

/**
 * `done`: how many actions of the migration are done. `before`: the database before them. `stopped`: what was done of
 * the next action. Throws ERR_IRREVERSIBLE.
 */
export function rollbackOf(
  migration: Migration,
  done: number,
  before: Database,
  describing: Describing,
  restoring: RestoreOptions = noRestoring,
  stopped: readonly PlacedAction[] = [],
): Rollback {
  const forward = compileMigration(migration, describing);
  const ran = [...forward.slice(0, done), ...stopped];
  // What a backfill has done is known.
  const unsure = stopped.length === 1 ? stopped[0]!.action : undefined;
  // The `down` of a file applies only to a migration that is completely done.
  const written = done === forward.length ? writtenBack(migration, describing) : undefined;
  const database = new Map(before);
  const { actions, blockers } = written ?? derived(ran, before, database, describing, { ...restoring, unsure });
  if (written !== undefined) replay(database, ran);
  const touched = [...ran, ...actions].flatMap(({ action }) => tablesOfAction(action));
  checkLeadsBack(actions, database, before, [...new Set(touched)]);
  return { actions, blockers };
}

/** The `down` of the file. No rows block it: its author decides what happens to them. */
function writtenBack({ file, down }: Migration, describing: Describing): Rollback | undefined {
  const actions = down?.flatMap((step, index) =>
    actionsOf(step, describing).map((action) => ({
      place: { file, step: index + 1, of: "down" as const, kind: step.kind },
      action,
    })),
  );
  return actions && { actions, blockers: [] };
}

/** Updates `database` to the state after all actions that ran. */
function derived(
  ran: readonly PlacedAction[],
  before: Database,
  database: Map<string, Table>,
  describing: Describing,
  restoring: RestoreOptions,
): Rollback {
  const lineages = lineagesOf(ran.map(({ action }) => action));
  const all = inversesOf(ran, lineages, database);
  for (const one of all) {
    const problem = unrestorable(one, restoring);
    if (problem !== undefined) throw irreversible(one.place, problem);
  }
  const lost = lostIn(all);
  const after = new Map(database);
  const sent = (some: readonly Action[]) => (describing.describes ? some : some.flatMap(oneByOne));
  const actions: PlacedAction[] = [];
  const blockers: PlacedBlocker[] = [];
  for (const one of all.toReversed()) {
    const { place, way } = one;
    const isLost = lost.has(one.lineage) || "lost" in way;
    const own = isLost
      ? wayOfLost(one, all, before, after, restoring)
      : withOwnRows(way, actionsOn(one.lineage, all), restoring);
    blockers.push(
      ...own.blockers.map((blocker) => ({
        place,
        blocker,
        at: actions.length + sent(own.actions.slice(0, blocker.at ?? 0)).length,
      })),
    );
    const undoes = actionsOn(one.lineage, all);
    actions.push(
      ...sent(own.actions).map((action) => ({ place, action, ...(action.kind === "restoreTable" && { undoes }) })),
    );
  }
  return { actions, blockers };
}

/** Refuses a rollback that does not lead back, also one that a file exports. */
function checkLeadsBack(
  actions: readonly PlacedAction[],
  database: Map<string, Table>,
  before: Database,
  touched: readonly string[],
): void {
  catchMigrateError(
    () => replay(database, actions),
    (error) => {
      throw isMigrateError(error, "ERR_STEP_IMPOSSIBLE") ? new MigrateError("ERR_IRREVERSIBLE", error.details) : error;
    },
  );
  const wrong = touched.flatMap((table) =>
    differences(before.get(table), database.get(table)).map((words) => `${table}: ${words}`),
  );
  if (wrong.length > 0)
    throw irreversible(actions.at(-1)!.place, `that does not lead to the tables before it: ${wrong.join("; ")}`);
}

function irreversible(place: StepPlace, problem: string): MigrateError {
  return new MigrateError("ERR_IRREVERSIBLE", { ...place, problem });
}

/**
 * Turns an error of a rollback plan into ERR_IRREVERSIBLE, with the command that rolls back what can be. `after`: the migrations that are rolled back before this one, in that order. `isBegun`:
 * whether this one is half done, so that no other can follow it.
 */
export function explainIrreversible<Result>(
  after: readonly MigrationName[],
  isBegun: boolean,
  plan: () => Result,
): Result {
  try {
    return plan();
  } catch (cause) {
    const found = placeAndProblem(cause);
    if (found === undefined) throw cause;
    const names = after.map(formatMigration).join(", then ");
    const first = isBegun
      ? "fix what stopped it, or the steps that have not run, and run migrate up, which finishes it"
      : undefined;
    const hint = after.length === 0 ? first : `run migrate down --steps ${after.length}, which rolls back ${names}`;
    throw new MigrateError("ERR_IRREVERSIBLE", { ...found, hint }, { cause });
  }
}

function placeAndProblem(cause: unknown): (StepPlace & { readonly problem: string }) | undefined {
  if (isMigrateError(cause, "ERR_IRREVERSIBLE")) return cause.details;
  if (isMigrateError(cause, "ERR_STEP_IMPOSSIBLE")) return cause.details;
  if (!isMigrateError(cause, "ERR_UNSUPPORTED")) return undefined;
  const { file, step, kind, target, reason } = cause.details;
  return { file, step, kind, problem: `target ${target} can't do it: ${reason}` };
}
