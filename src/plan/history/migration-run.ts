/** The actions of a migration in either direction, and their progress according to the ledger. Pure. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration, Progress } from "../../ledger/state/fold-migration.ts";
import type { TableVersions } from "../../ledger/state/record.ts";
import { commitsOf } from "../../actions/apply-action.ts";
import { begunHash, checksumOf, matchesHash } from "../../migrations/checksum.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Database } from "../../schema/table.ts";
import { compileMigration, type Able, type Describing, type PlacedAction, type Direction } from "../compile/compile.ts";
import { isUndoneAsWhole, leftTable, type LeftTable } from "../rollback/stopped-action.ts";
import type { PlannedProgress } from "./progress.ts";
import { rollbackOf, type PlacedBlocker, type Rollback } from "../rollback/rollback.ts";

export interface MigrationRun extends Omit<PlannedProgress, "inDoubt"> {
  readonly migration: Migration;
  readonly direction: Direction;
  readonly actions: readonly PlacedAction[];
  /** What the ledger keeps hashes of: the steps, or the actions of the rollback. */
  readonly units: readonly unknown[];
  /** For each action: how many units have begun once it is done. */
  readonly begun: readonly number[];
  /** Rows that may block the rollback. */
  readonly blockers: readonly PlacedBlocker[];
  readonly attempt: number;
  /** Of a rollback that has begun: the version that each table to be restored had when it began. */
  readonly startedAt?: TableVersions | undefined;
  /** Of a rollback: what is left of the table of an action that stopped between its commits. */
  readonly left?: LeftTable | undefined;
}

/** The units that have begun once this number of actions is done. */
export function unitsBegun(
  { units, begun }: Pick<MigrationRun, "units" | "begun">,
  actions: number,
): readonly unknown[] {
  return units.slice(0, begun[actions - 1] ?? 0);
}

export function upRun(
  migration: Migration,
  { migrations }: Pick<LedgerState, "migrations">,
  describing: Describing,
): MigrationRun {
  const forward = { actions: compileMigration(migration, describing), blockers: [] };
  return runOf(migration, "up", forward, migrations.get(migration.version));
}

/**
 * `before`: the database before the migration ran. It is copied, because it may change before the result is called.
 * `reinserts`: whether rows written since are reinserted after an old version is restored.
 */
export function downRun(
  migration: Migration,
  before: Database,
  { migrations }: Pick<LedgerState, "migrations">,
  able: Able,
  reinserts = true,
): () => MigrationRun {
  const was = new Map(before);
  return () => {
    const known = migrations.get(migration.version)!;
    const back = reversalOf(migration, known, was, able, reinserts);
    const left = leftByStopped(migration, known, was, able);
    return { ...runOf(migration, "down", back, known.reversal), startedAt: known.reversal?.tables, left };
  };
}

/** `known`: undefined if it has not begun in this direction. */
function runOf(
  migration: Migration,
  direction: Direction,
  { actions, blockers }: Rollback,
  known: Progress | undefined,
): MigrationRun {
  return {
    migration,
    direction,
    actions,
    units: direction === "up" ? migration.steps : actions.map(({ action }) => action),
    begun: actions.map(({ place }, index) => (direction === "up" ? place.step : index + 1)),
    blockers,
    done: known?.step ?? 0,
    midway: known?.midway,
    attempt: (known?.attempt ?? 0) + 1,
  };
}

/** The rollback of a migration, also one that has begun. Throws ERR_IRREVERSIBLE, ERR_ROLLBACK_CHANGED. */
export function reversalOf(
  migration: Migration,
  known: LedgerMigration,
  before: Database,
  able: Able,
  reinserts = true,
): Rollback {
  const { step, stopped } = actionsRun(migration, known, before, able);
  const restoring = { able: able.actions.restoreTable === true, tables: known.tables };
  const derive = (options: { readonly reinserts: boolean }) =>
    rollbackOf(migration, step, before, able, { ...restoring, ...options }, stopped);
  const { reversal } = known;
  if (reversal === undefined) return derive({ reinserts });
  try {
    const whole = derive({ reinserts: true });
    const done = doneOf(whole.actions, reversal);
    if (done !== undefined) return resumed(whole, done, reversal, reinserts);
  } catch (error) {
    // The rollback began with a `down` that the file no longer has.
    if (!isMigrateError(error, "ERR_IRREVERSIBLE") || reversal.step === 0) throw error;
  }
  throw new MigrateError("ERR_ROLLBACK_CHANGED", { file: migration.file });
}

/**
 * The positions of the actions that are done; undefined where another release has begun with other actions, which this one
 * can't resume. A run that accepted the loss of rows has reinserted none.
 */
function doneOf(actions: readonly PlacedAction[], reversal: Progress): readonly number[] | undefined {
  const search = (done: readonly number[], next: number): readonly number[] | undefined => {
    if (done.length === reversal.step) return isSame(actions, done, reversal) ? done : undefined;
    const action = actions[next]?.action;
    if (action === undefined) return undefined;
    const withIt = search([...done, next], next + 1);
    return withIt ?? (action.kind === "putBackRows" ? search(done, next + 1) : undefined);
  };
  return search([], 0);
}

function isSame(actions: readonly PlacedAction[], done: readonly number[], { checksum, midway }: Progress): boolean {
  const isDone = matchesHash(checksumOf(done.map((index) => actions[index]!.action)), checksum);
  const begun = actions[begunAfter(actions, done)];
  return isDone && (midway === undefined || (begun !== undefined && begunHash(begun.action) === midway.step));
}

/** The position of an action of several commits that has begun. Reinserting rows is one commit. */
function begunAfter(actions: readonly PlacedAction[], done: readonly number[]): number {
  const end = (done.at(-1) ?? -1) + 1;
  return actions.findIndex(({ action }, index) => index >= end && action.kind !== "putBackRows");
}

/**
 * What is done, and what is left. A run that resumes a rollback reinserts rows unless it accepts their loss itself. Where a
 * table was restored by a run that had accepted the loss of its rows, these stay lost.
 */
function resumed(
  { actions, blockers }: Rollback,
  done: readonly number[],
  { midway, step, total }: Progress,
  reinserts: boolean,
): Rollback {
  const end = (done.at(-1) ?? -1) + 1;
  const beganWithAll = midway === undefined && total - step === actions.length - end;
  const next = begunAfter(actions, done);
  const rest = beganWithAll ? end : next === -1 ? actions.length : next;
  const isKept = ({ action }: PlacedAction, index: number) =>
    index < rest ? done.includes(index) : reinserts || action.kind !== "putBackRows";
  const keptBefore = (at: number) => actions.slice(0, at).filter(isKept).length;
  return {
    actions: actions.filter(isKept),
    blockers: blockers.map((one) => ({ ...one, at: keptBefore(one.at) })),
  };
}

/**
 * How many actions of the migration have run, and those of the next one that a rollback undoes too. A backfill that
 * stopped at a row keeps the values that it has computed, and the column of their marks. Another action that stopped
 * between its commits is undone if its table is restored or dropped as a whole. `before`: the database before the
 * migration.
 */
export function actionsRun(
  migration: Migration,
  known: LedgerMigration,
  before: Database,
  able: Able,
): { readonly step: number; readonly stopped: readonly PlacedAction[] } {
  const actions = compileMigration(migration, able);
  const { status, step, midway, isStopped = false } = known;
  if (status === "applied") return { step: actions.length, stopped: [] };
  const next = actions[step];
  if (next === undefined || midway === undefined || !isStopped) return { step, stopped: [] };
  const { place, action } = next;
  if (action.kind !== "backfillColumn")
    return { step, stopped: isUndoneAsWhole(migration, known, actions, before, able) ? [next] : [] };
  const [marking] = commitsOf(action, { columns: [] }, () => true);
  return { step, stopped: midway.commit === 1 ? [{ place, action: marking!.action }, next] : [] };
}

function leftByStopped(
  migration: Migration,
  known: LedgerMigration,
  before: Database,
  able: Able,
): LeftTable | undefined {
  const { step, stopped } = actionsRun(migration, known, before, able);
  if (stopped.length !== 1) return undefined;
  return leftTable(compileMigration(migration, able), step, known.midway!, before, able);
}
