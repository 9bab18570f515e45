/** The actions of a migration in either direction, and their progress according to the ledger. Pure. */
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
  /** What the ledger keeps hashes of: the steps, or the actions of the rollback. */
  readonly units: readonly unknown[];
  /** For each action: how many units have begun once it is done. */
  readonly begun: readonly number[];
  /** Rows that may block the rollback. */
  readonly obstacles: readonly PlacedObstacle[];
  /** How many actions the ledger records as done. */
  readonly done: number;
  /** The recorded progress of the next action, if it takes several commits and has begun. */
  readonly midway: PartialAction | undefined;
  readonly attempt: number;
  /** Of a rollback that has begun: the version that each table to be restored had when it began. */
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
 * `before`: the database before the migration ran. It is copied, because it may change before the result is called.
 * `putsBack`: whether rows written since are put back after an old version is restored.
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

/** The rollback of a migration, also one that has begun. Throws ERR_IRREVERSIBLE, ERR_ROLLBACK_CHANGED. */
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
    // A rollback resumes as it began. But a run that gives up rows need not put them back.
    const asBegun = all.find(({ actions }) => actions.length === reversal.total);
    const same = putsBack ? (asBegun ?? all[0]) : all[0];
    if (same !== undefined) return same;
  } catch (error) {
    // The rollback began with a `down` that the file no longer has.
    if (!isMigrateError(error, "ERR_IRREVERSIBLE") || reversal.step === 0) throw error;
  }
  throw new MigrateError("ERR_ROLLBACK_CHANGED", { file: migration.file });
}

function progressOf(known: Pick<LedgerMigration, "step" | "midway" | "attempt"> | undefined) {
  return { done: known?.step ?? 0, midway: known?.midway, attempt: (known?.attempt ?? 0) + 1 };
}

function actionsRun(migration: Migration, { status, step }: LedgerMigration, describing: Describing): number {
  return status === "applied" ? compileMigration(migration, describing).length : step;
}

/**
 * Whether the rollback begins with the actions that ran. Another release may derive others, and those cannot be
 * resumed.
 */
function isSame(units: readonly unknown[], { step, checksum, midway }: Reversal): boolean {
  return (
    matchesHash(checksumOf(units.slice(0, step)), checksum) &&
    (midway === undefined || stepHash(units[step]) === midway.step)
  );
}
