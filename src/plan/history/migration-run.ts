/** The actions of a migration in either direction, and what the ledger knows of them. Pure. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerMigration, LedgerState, Reversal } from "../../ledger/state/fold.ts";
import type { PartialAction, TableVersions } from "../../ledger/state/record.ts";
import { checksumOf, matchesHash, stepHash } from "../../migrations/checksum.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Database } from "../../schema/table.ts";
import { compileMigration, type Describing, type PlacedAction, type Direction } from "../compile/compile.ts";
import { rollbackOf, type PlacedObstacle, type Rollback } from "../rollback/rollback.ts";
import type { Able } from "../compile/capability-check.ts";

export interface MigrationRun {
  readonly migration: Migration;
  readonly direction: Direction;
  readonly actions: readonly PlacedAction[];
  /** What the ledger keeps hashes of: the steps, or the actions that take them back. */
  readonly units: readonly unknown[];
  /** How many units have begun once the first, the second, … action is done. */
  readonly begun: readonly number[];
  /** Rows that may stand in the way. */
  readonly obstacles: readonly PlacedObstacle[];
  /** Actions that the ledger records as done. */
  readonly done: number;
  /** How far the ledger knows the next one to have got, where that takes several commits. */
  readonly midway: PartialAction | undefined;
  readonly attempt: number;
  /** Of a rollback that has begun: the version that each table had then which is restored. */
  readonly startedAt?: TableVersions | undefined;
}

export function upRun(migration: Migration, { migrations }: LedgerState, describing: Describing): MigrationRun {
  const known = migrations.get(migration.version);
  const actions = compileMigration(migration, describing);
  return {
    migration,
    direction: "up",
    actions,
    units: migration.steps,
    begun: actions.map(({ place }) => place.step),
    obstacles: [],
    ...progressOf(known),
  };
}

/**
 * `before`: the database before the migration ran, which may be another one by the time that the course is asked for.
 * `putsBack`: whether rows that came since are put back on a version that is restored.
 */
export function downRun(
  migration: Migration,
  before: Database,
  { migrations }: LedgerState,
  able: Able,
  putsBack = true,
): () => MigrationRun {
  const was = new Map(before);
  return () => runFrom(migration, was, migrations.get(migration.version)!, able, putsBack);
}

function runFrom(
  migration: Migration,
  before: Database,
  known: LedgerMigration,
  able: Able,
  putsBack: boolean,
): MigrationRun {
  const { actions, obstacles } = reversalOf(migration, known, before, able, putsBack);
  const units = actions.map(({ action }) => action);
  return {
    migration,
    direction: "down",
    actions,
    units,
    begun: units.map((_, index) => index + 1),
    obstacles,
    ...progressOf(known.reversal),
    startedAt: known.reversal?.tables,
  };
}

/** What takes a migration back, or is taking it back already. Throws ERR_IRREVERSIBLE, ERR_ROLLBACK_CHANGED. */
export function reversalOf(
  migration: Migration,
  known: LedgerMigration,
  before: Database,
  able: Able,
  putsBack = true,
): Rollback {
  const done = actionsRun(migration, known, able);
  const restoring = { able: able.actions.restoreTable === true, tables: known.tables, putsBack };
  const derive = (more?: Partial<typeof restoring>) =>
    rollbackOf(migration, done, before, able, { ...restoring, ...more });
  const { reversal } = known;
  if (reversal === undefined) return derive();
  try {
    const all = [derive(), derive({ putsBack: !putsBack })].filter(({ actions }) =>
      isSame(
        actions.map(({ action }) => action),
        reversal,
      ),
    );
    // A rollback resumes as it began. A run that accepts the loss of rows puts none back from there on.
    const same = all.find(({ actions }) => actions.length === reversal.total) ?? all[0];
    if (same !== undefined) return putsBack ? same : withoutPuttingBack(same, reversal.step);
  } catch (error) {
    // The file has said how it is taken back, and says so no more.
    if (!isMigrateError(error, "ERR_IRREVERSIBLE") || reversal.step === 0) throw error;
  }
  throw new MigrateError("ERR_ROLLBACK_CHANGED", { file: migration.file });
}

/** Without the actions that put rows back, from one position on. */
function withoutPuttingBack({ actions, obstacles }: Rollback, from: number): Rollback {
  const isLeftOut = ({ action }: PlacedAction, index: number) => index >= from && action.kind === "putBackRows";
  const leftOutBefore = (at: number) => actions.slice(0, at).filter(isLeftOut).length;
  return {
    actions: actions.filter((one, index) => !isLeftOut(one, index)),
    obstacles: obstacles.map((one) => ({ ...one, at: one.at - leftOutBefore(one.at) })),
  };
}

function progressOf(known: Pick<LedgerMigration, "step" | "midway" | "attempt"> | undefined) {
  return { done: known?.step ?? 0, midway: known?.midway, attempt: (known?.attempt ?? 0) + 1 };
}

function actionsRun(migration: Migration, { status, step }: LedgerMigration, describing: Describing): number {
  return status === "applied" ? compileMigration(migration, describing).length : step;
}

/** Another release may take a migration back by other actions: nobody could go on with those. */
function isSame(units: readonly unknown[], { step, checksum, midway }: Reversal): boolean {
  return (
    matchesHash(checksumOf(units.slice(0, step)), checksum) &&
    (midway === undefined || stepHash(units[step]) === midway.step)
  );
}
