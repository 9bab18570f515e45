/** Plans a run from the current files, ledger and tables, and detects whether these change meanwhile. */
import { isDeepStrictEqual } from "node:util";
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { groupInDoubt, migrationsInDoubt, type LedgerState } from "../../ledger/state/ledger-state.ts";
import { aloneEntry, type LedgerEntry } from "../../ledger/state/record.ts";
import { matchesHash } from "../../migrations/checksum.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { Migration } from "../../migrations/load.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import { repeatedFacts } from "../../plan/history/record-facts.ts";
import type { Describing, Direction } from "../../plan/compile/compile.ts";
import {
  checkBegun,
  checkMissing,
  checkNotReverting,
  checkUnchanged,
  orderPending,
  type RunChoice,
} from "../../plan/history/pending.ts";
import { groupMigrations, isGroup, migrationsInBatch, type MigrationBatch } from "../../plan/group/group-migrations.ts";
import { makePlan, type Plan, type PlanInput, type PlannedAction } from "../../plan/make-plan.ts";
import { planSeen } from "../../plan/reconcile/live-commits.ts";
import {
  checkPresence,
  foundBetween,
  indexedTables,
  reconcile,
  touchedTables,
} from "../../plan/reconcile/reconcile.ts";
import type { Target } from "../../targets/contract/target.ts";
import { checkConsistent } from "../lease/audited-ledger.ts";
import type { WriteGuard } from "../execute/write-guard.ts";
import { groupRecord } from "../execute/execute-group.ts";
import { madeByOthers } from "../check/made-by-others.ts";
import { explainedByLoss } from "../check/lost-ledger.ts";
import { readConsistently, readLedger, ifCurrent } from "./consistent-read.ts";
import { describeForPlan } from "./describe-tables.ts";
import { needsEachMigration } from "../hooks.ts";
import type { RunContext } from "../run-context.ts";
import { placeIfNew } from "../check/new-database.ts";
import type { Ledger } from "../lease/with-lease.ts";

export interface PlanningInput extends Ledger {
  readonly context: RunContext;
  readonly files: readonly MigrationFile[];
  /** Whether another runner may be changing the tables meanwhile. */
  readonly besideAnother: boolean;
}

export interface PlannedRun {
  readonly plan: Plan;
  /** The plan's migrations, as they are executed. One by one when absent. */
  readonly units?: readonly MigrationBatch[] | undefined;
  /** All migrations that were loaded for the plan. */
  readonly migrations: readonly Migration[];
  /** The entries to record before the first action. */
  readonly firstEntries: readonly LedgerEntry[];
  /** Set if writes that others make while it is carried out must not be lost. */
  readonly writeGuard?: WriteGuard | undefined;
}

/**
 * The plan for the ledger as it was read. Undefined if the plan is blocked or contradicted by the tables, and another
 * run has written to the ledger meanwhile.
 */
export async function planIfCurrent<Input extends PlanningInput>(
  input: Input,
  plan: (input: Input) => Promise<PlannedRun>,
): Promise<PlannedRun | undefined> {
  const { context, state } = input;
  await checkConsistent(context, state);
  return await ifCurrent(
    context,
    input,
    () => plan(input),
    ({ plan: made }) => made.blocked !== undefined,
  );
}

/** The plan for the current ledger and tables, and the records that it was made from. Changes nothing. */
export async function planNow(
  context: RunContext,
  files: readonly MigrationFile[],
  plan: (ledger: Ledger, besideAnother: boolean) => Promise<PlannedRun | undefined>,
): Promise<PlannedRun & Ledger> {
  return await readConsistently(
    context,
    () => readLedger(context, files),
    async (read) => {
      const planned = await plan(read, read.state.holder !== undefined);
      return planned && { ...planned, ...read };
    },
  );
}

/** Plans the chosen pending migrations. */
export async function planPending(input: PlanningInput, choice: RunChoice): Promise<PlannedRun> {
  const { context, files, state, besideAnother } = input;
  checkNotReverting(state);
  const inDoubt = migrationsInDoubt(state, context.runner.run);
  const group = groupInDoubt(state, context.runner.run);
  const pending = orderPending({ files, state, inDoubt, group, choice });
  checkBegun(files, state, besideAnother ? state.holder : undefined);
  if (pending.length > 0 || state.late.length > 0) checkMissing(files, state);
  const newDatabase = await placeIfNew(context, state);
  const { plan, migrations } = await planChosen(pending, "up", input).catch(async (error: unknown) => {
    throw await explainedByLoss(error, context, state, files);
  });
  const fresh = new Set(pending.map(({ version }) => version).filter((version) => !state.migrations.has(version)));
  if (fresh.size > 0) await context.migrations.checkSameAgain?.(migrations.filter(({ version }) => fresh.has(version)));
  const units = groupMigrations(plan.migrations, {
    capabilities: context.target.capabilities,
    begun: group,
    stepByStep: choice.stepByStep === true || needsEachMigration(context.hooks),
  });
  const firstEntries = openingEntries(migrations, state, units, context.target.capabilities);
  return { plan: newDatabase === undefined ? plan : { ...plan, newDatabase }, units, migrations, firstEntries };
}

/** Plans the chosen migrations, in that order. Also loads all that the ledger knows or that have a late call. */
export async function planChosen(
  chosen: readonly { readonly version: number }[],
  direction: Direction,
  planning: PlanningInput,
  reinserts?: boolean,
): Promise<Pick<PlannedRun, "plan" | "migrations">> {
  const { context, files, state } = planning;
  const { target, ledger, runner } = context;
  const wanted = new Set([...state.migrations.keys(), ...[...chosen, ...state.late].map(({ version }) => version)]);
  const loaded = await loadMigrations(
    context.migrations,
    files.filter(({ version }) => wanted.has(version)),
  );
  const migrations = withStepsThatRan(loaded, state);
  checkUnchanged(migrations, state, target.capabilities);
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]));
  const pending = chosen.map(({ version }) => byVersion.get(version)!);
  const input = {
    migrations,
    pending,
    direction,
    reinserts,
    state: { migrations: state.migrations },
    inDoubt: migrationsInDoubt(state, runner.run),
    target,
    ledger,
  };
  return { plan: await planForTables(input, planning), migrations };
}

/** The last plan of each run, before it was compared with the tables. */
const latest = new WeakMap<RunContext, { readonly input: PlanInput; readonly plan: Plan }>();

/** A run plans before it takes the lease, and again under it, when mostly nothing has changed. */
function plannedOnce(input: PlanInput, context: RunContext): Plan {
  const known = latest.get(context);
  if (known !== undefined && isDeepStrictEqual(known.input, input)) return known.plan;
  const plan = makePlan(input);
  latest.set(context, { input, plan });
  return plan;
}

/** The plan for the tables, without actions that turn out to be done. Throws ERR_DRIFT. */
async function planForTables(input: PlanInput, { context, state, besideAnother }: PlanningInput): Promise<Plan> {
  const { target, signal, runner } = context;
  const plan = plannedOnce(input, context);
  const group = groupInDoubt(state, runner.run);
  if (target.capabilities.describes) {
    const indexed = indexedTables(plan);
    const settle = async (areStill: boolean): Promise<Plan> => {
      const { looking, requireFound } = seeingDrops(plan, target);
      const seen = await describeForPlan(looking, touchedTables(plan), indexed, areStill, signal);
      const found = foundBetween(plan, seen);
      const settled = reconcile(found.size === 0 ? plan : makePlan({ ...input, found }), seen, group);
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
    const problem = await madeByOthers(found.action, call, target, { version: migration.version, action: done });
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
      const inDoubt = migrations.flatMap((one) => (one.inDoubt ? one.actions : []));
      const left = inDoubt.find((one) => isDrop(table, one))?.after.get(table);
      if (!isMigrateError(error, "ERR_UNREADABLE") || left === undefined) throw error;
      unreadable.set(table, error);
      const snapshot = await target.describeTable(table);
      return snapshot && { ...snapshot, table: { ...snapshot.table, indexes: left.indexes } };
    }
  };
  const requireFound = (settled: Plan) => {
    for (const [table, error] of unreadable)
      if (!settled.migrations.some(({ found }) => isDrop(table, found))) throw error;
  };
  return { looking: { ...target, describeTable: look }, requireFound };
}

/**
 * The entries to record before the first action. The epoch was taken for the migration that was the first one then. A
 * late record of an older holder may have changed which one is first, and the new one is in doubt if this run dies.
 * Applied migrations whose text changed but not their steps are recorded with their new hashes, so that the next run
 * can again find from the newest record alone that nothing is pending.
 */
function openingEntries(
  migrations: readonly Migration[],
  { holder, inDoubt, group, migrations: ran }: LedgerState,
  [first]: readonly MigrationBatch[],
  { describes }: Describing,
): readonly LedgerEntry[] {
  const next = first && migrationsInBatch(first)[0]!.migration.version;
  const notes = migrations.flatMap(({ version, textHash }): readonly LedgerEntry[] => {
    const known = ran.get(version);
    if (known?.status !== "applied" || matchesHash(textHash, known.textHash)) return [];
    return [{ event: "noted", next, ...repeatedFacts(known), textHash }];
  });
  if (first !== undefined && isGroup(first)) return [...notes, groupRecord(first)];
  // A holder that was overtaken may still state a group of which it has made no call. A group that is known stays in doubt.
  if (next !== undefined && describes && inDoubt.size > 0 && group.size === 0) return [...notes, aloneEntry(next)];
  return notes.length === 0 && holder?.next !== next ? [{ event: "renewed", next }] : notes;
}
