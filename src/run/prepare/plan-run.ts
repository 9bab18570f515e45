/** Plans a run from the current files, ledger and tables, and detects whether these change meanwhile. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { foldLedger, migrationsInDoubt, type LedgerState } from "../../ledger/state/fold.ts";
import { sameRecord, type Journal } from "../../ledger/journal/journal.ts";
import type { LedgerEntry, LedgerRecord } from "../../ledger/state/record.ts";
import { matchesHash } from "../../migrations/checksum.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { Migration } from "../../migrations/load.ts";
import { loadMigrations, type MigrationSource } from "../../migrations/source.ts";
import { asTheyRan } from "../../plan/history/renumbered.ts";
import { repeatedFacts } from "../../plan/history/record-facts.ts";
import type { Direction } from "../../plan/compile/compile.ts";
import {
  checkBegun,
  checkMissing,
  checkNotReverting,
  checkUnchanged,
  orderPending,
  type Choice,
} from "../../plan/history/pending.ts";
import { makePlan, type Plan, type PlanInput, type PlannedAction } from "../../plan/make-plan.ts";
import { planSeen } from "../../plan/reconcile/live-commits.ts";
import { checkPresence, indexedTables, reconcile, touchedTables } from "../../plan/reconcile/reconcile.ts";
import { sameTable, type Table, type Tables } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import { contradiction } from "../lease/audited-ledger.ts";
import { lookAlike, placeAfter } from "../check/look-alike.ts";
import { recognisedState } from "./record-renumbered.ts";
import type { RunContext } from "../run-context.ts";
import type { Ledger } from "../lease/with-lease.ts";
import { throwIfInterrupted } from "../lease/wait-for-lease.ts";

export interface PlanningInput {
  readonly target: Target;
  readonly ledger: string;
  readonly source: MigrationSource;
  readonly files: readonly MigrationFile[];
  readonly state: LedgerState;
  /** Those from which the state was computed. */
  readonly records: readonly LedgerRecord[];
  /** The id of the run that plans: its own migration is not in doubt. */
  readonly run: string;
  /** Whether another runner may be changing the tables meanwhile. */
  readonly besideAnother: boolean;
}

export interface Planned {
  readonly plan: Plan;
  /** All migrations that were loaded for the plan. */
  readonly migrations: readonly Migration[];
  /** The version of each table before the target was asked what blocks the rollback. */
  readonly seen?: Readonly<Record<string, number | null>>;
  /** The records that state that nothing of certain migrations in doubt has run. */
  readonly notBegun?: readonly LedgerEntry[];
}

/**
 * The plan for the ledger as it was read. Undefined if the plan is blocked or contradicted by the tables, and another
 * runner has written to the ledger meanwhile. What looks like drift, or blocks a rollback, is then what that runner
 * did: a runner writes to the ledger before it changes a table.
 */
export async function planUnlessMoved<Input extends PlanningInput>(
  journal: Journal,
  input: Input,
  plan: (input: Input) => Promise<Planned>,
): Promise<Planned | undefined> {
  const contradicts = await contradiction(journal, input.state);
  if (contradicts !== undefined) throw contradicts;
  const { head, holder } = input.state;
  const hasMoved = async () => {
    const again = await journal.read();
    const newest = foldLedger(again).head;
    // Only this run writes in its own epoch: it has renewed the lease, because planning may take long.
    const isOwn = holder?.run === input.run && newest?.epoch === head?.epoch;
    // A list that is read while another run adds to it may miss an older record too.
    return !isOwn && (!sameRecord(newest, head) || again.length !== input.records.length);
  };
  try {
    const planned = await plan(input);
    return planned.plan.blocked !== undefined && (await hasMoved()) ? undefined : planned;
  } catch (error) {
    if (!isMigrateError(error) || error.outcome !== "refused" || !(await hasMoved())) throw error;
    return undefined;
  }
}

/** The plan for the current ledger and tables, and the records that it was made from. Changes nothing. */
export async function planNow(
  context: RunContext,
  files: readonly MigrationFile[],
  plan: (ledger: Ledger, besideAnother: boolean) => Promise<Planned | undefined>,
): Promise<Planned & Ledger> {
  for (;;) {
    throwIfInterrupted(context.signal);
    const records = await context.journal.read();
    const state = await recognisedState(foldLedger(records), files, context);
    const planned = await plan({ records, state }, state.holder !== undefined);
    if (planned !== undefined) return { ...planned, records, state };
  }
}

/** Plans the chosen pending migrations. */
export async function planPending(input: PlanningInput & { readonly choice: Choice }): Promise<Planned> {
  const { files, state, choice, run, besideAnother } = input;
  checkNotReverting(state);
  const doubtful = migrationsInDoubt(state, run);
  const pending = orderPending({ files, state, doubtful, choice });
  checkBegun(files, state, besideAnother ? state.holder?.next : undefined);
  if (pending.length > 0 || state.late.length > 0) checkMissing(files, state);
  return await planChosen(pending, "up", input);
}

/** Plans the chosen migrations, in that order. Also loads all that the ledger knows or that have a late call. */
export async function planChosen(
  chosen: readonly { readonly version: number }[],
  direction: Direction,
  { target, ledger, source, files, state, run, besideAnother }: PlanningInput,
  putsBack?: boolean,
): Promise<Planned> {
  const wanted = new Set([...state.migrations.keys(), ...[...chosen, ...state.late].map(({ version }) => version)]);
  const loaded = await loadMigrations(
    source,
    files.filter(({ version }) => wanted.has(version)),
  );
  const migrations = asTheyRan(loaded, state);
  checkUnchanged(migrations, state, target.capabilities);
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]));
  const pending = chosen.map(({ version }) => byVersion.get(version)!);
  const input = {
    migrations,
    pending,
    direction,
    putsBack,
    state,
    doubtful: migrationsInDoubt(state, run),
    target,
    ledger,
  };
  return { plan: await planForTables(input, target, besideAnother), migrations };
}

/** The plan for the tables, without actions that turn out to be done. Throws ERR_DRIFT. */
async function planForTables(input: PlanInput, target: Target, besideAnother: boolean): Promise<Plan> {
  const plan = makePlan(input);
  if (target.capabilities.describes) {
    const indexed = indexedTables(plan);
    const settle = async (areStill: boolean): Promise<Plan> => {
      const { looking, requireFound } = seeingDrops(plan, target);
      const seen = await describeForPlan(looking, touchedTables(plan), indexed, areStill);
      const settled = reconcile(plan, seen);
      requireFound(settled);
      await requireOwn(plan, settled, target);
      return indexed.size === 0 ? settled : planSeen(settled, seen, target.capabilities);
    };
    try {
      return await settle(!besideAnother);
    } catch (error) {
      // A runner that was silent for a whole lease may be running again. Then one table may have been described before
      // its change and another one after it.
      if (besideAnother || !isMigrateError(error, "ERR_DRIFT")) throw error;
      return await settle(false);
    }
  }
  if (plan.migrations.length > 0) checkPresence(plan, new Set(await target.listTables()));
  return plan;
}

/** Requires that actions that look done were done by the migrations. Throws ERR_STEP_IMPOSSIBLE. */
async function requireOwn(plan: Plan, settled: Plan, target: Target): Promise<void> {
  for (const [index, { migration, found, done }] of settled.migrations.entries()) {
    if (found === undefined) continue;
    const { actions, midway } = plan.migrations[index]!;
    const call = midway !== undefined && found === actions[0] ? "begun" : "unknown";
    const after = placeAfter({ version: migration.version, action: done });
    const problem = await lookAlike(found.action, call, target, after);
    if (problem !== undefined)
      throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...found.place, problem: `${problem}; then run it again` });
  }
}

/**
 * The engine lists no indexes of a table that can't be read. If a run that was stopped may have dropped columns of it,
 * its indexes are assumed to be as the drop leaves them: a run that finds the drop done restores the table. Otherwise
 * the error is thrown.
 */
function seeingDrops({ migrations }: Plan, target: Target) {
  const unreadable = new Map<string, unknown>();
  const isDrop = (table: string, planned: PlannedAction | undefined) =>
    planned?.action.kind === "dropColumns" && planned.action.table === table;
  const look: Target["describeTable"] = async (table, withIndexes) => {
    try {
      return await target.describeTable(table, withIndexes);
    } catch (error) {
      const doubtful = migrations.flatMap((one) => (one.doubtful ? one.actions : []));
      const left = doubtful.find((one) => isDrop(table, one))?.after.get(table);
      if (!isMigrateError(error, "ERR_UNREADABLE") || left === undefined) throw error;
      unreadable.set(table, error);
      const sight = await target.describeTable(table);
      return sight && { ...sight, table: { ...sight.table, indexes: left.indexes } };
    }
  };
  const requireFound = (settled: Plan) => {
    for (const [table, error] of unreadable)
      if (!settled.migrations.some(({ found }) => isDrop(table, found))) throw error;
  };
  return { looking: { ...target, describeTable: look }, requireFound };
}

/**
 * The tables as they are now. They are described one after another, so if another runner may be running, they are
 * described until two rounds agree. Otherwise one table might be described before a change by that runner and another
 * one after it.
 */
export async function describeForPlan(
  target: Target,
  tables: readonly string[],
  indexed: ReadonlySet<string>,
  areStill: boolean,
): Promise<Tables> {
  let before: Tables | undefined;
  for (;;) {
    const sights = new Map<string, Table | undefined>();
    for (const table of tables) sights.set(table, (await target.describeTable(table, indexed.has(table)))?.table);
    if (areStill || tables.every((table) => before?.has(table) && sameTable(before.get(table), sights.get(table))))
      return sights;
    before = sights;
  }
}

/**
 * The entries to record before the first action. The epoch was taken for the migration that was the first one then. A
 * late record of an older holder may have changed which one is first, and the new one is in doubt if this run dies.
 * Applied migrations whose text changed but not their steps are recorded with their new hashes, so that the next run
 * can again find from the newest record alone that nothing is pending.
 */
export function openingEntries(
  migrations: readonly Migration[],
  { holder, migrations: ran }: LedgerState,
  plan: Plan,
): readonly LedgerEntry[] {
  const next = plan.migrations[0]?.migration.version;
  const notes = migrations.flatMap(({ version, textHash }): readonly LedgerEntry[] => {
    const known = ran.get(version);
    if (known?.status !== "applied" || matchesHash(textHash, known.textHash)) return [];
    return [{ event: "noted", next, ...repeatedFacts(known), textHash }];
  });
  return notes.length === 0 && holder?.next !== next ? [{ event: "renewed", next }] : notes;
}
