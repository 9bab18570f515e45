/**
 * Computes what pending migrations need and applications don't see: the new values of columns that `reembedColumn`
 * changes, and the indexes on them. `up` then has little left to do. Changes no ledger, so other migrations may run
 * meanwhile.
 */
import { isMigrateError, MigrateError, type StepPlace } from "../../../errors/migrate-error.ts";
import type { PrepareColumnAction } from "../../../actions/model/action.ts";
import { tablesOfAction } from "../../../actions/apply-action.ts";
import type { Lease } from "../../../ledger/lease/lease.ts";
import { stepHash } from "../../../migrations/checksum.ts";
import type { MigrationName } from "../../../migrations/file-name.ts";
import type { Plan, PlannedAction } from "../../../plan/make-plan.ts";
import { withExecutors, withRows } from "../../../run/executors.ts";
import { computingOf, type MigratorOptions, runContext, type RunContext } from "../../../run/run-context.ts";
import type { FillProject } from "../fill/compute-session.ts";
import { preparedProgress } from "./prepared-progress.ts";
import type { PreparedProgress } from "../../../run/computed.ts";
import { recordPhases } from "../../../run/phase.ts";
import { preparedDetail } from "./preparing-state.ts";
import type { Shard } from "../compute/shard.ts";
import { areSiblings, preparingName, preparingsOf } from "../compute/staging-name.ts";
import { compareNeighbours, type SharedNeighbours } from "../recall/compare-neighbours.ts";
import { observed } from "../../../run/observed.ts";
import { underLease } from "./under-lease.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { planOn } from "../../../commands/run.ts";
import { upRun } from "../../../commands/up-rules.ts";

export interface PrepareChoice extends Pick<FillProject, "loaders"> {
  /** Computes only these rows, and creates no index. */
  readonly shard?: Shard | undefined;
}

export interface PreparedColumn extends MigrationName {
  readonly table: string;
  readonly path: string;
  /** The pending migration that changes the table first, so that nothing could be prepared. */
  readonly waitsFor?: MigrationName | undefined;
  /** Of all rows, whichever process has computed them. */
  readonly progress?: PreparedProgress | undefined;
  /** How similar the old and the new values are, as information; absent for a shard. */
  readonly neighbours?: SharedNeighbours | undefined;
}

/** A column that a pending migration changes. */
interface Preparable extends Pick<PreparedColumn, "waitsFor">, Pick<PlannedAction, "refusal"> {
  readonly migration: MigrationName;
  readonly place: StepPlace;
  readonly action: PrepareColumnAction;
}

/** Plans without the checks that read the tables: an earlier plan has made them. */
const unchecked: typeof upRun = {
  ...upRun,
  rules: (...given) => ({ ...upRun.rules(...given), withRefusals: async (plan) => plan }),
};

/** Throws ERR_STEP_WOULD_FAIL, and ERR_PREPARE_FAILED; what was computed before is kept. */
export async function prepare(
  options: MigratorOptions,
  choice: PrepareChoice = {},
): Promise<readonly PreparedColumn[]> {
  return await observed("prepare", options, (given) => prepareAll(given, choice));
}

async function prepareAll(options: MigratorOptions, choice: PrepareChoice): Promise<readonly PreparedColumn[]> {
  const { shard } = choice;
  const planChecks = options.planChecks?.filter(({ holdsForPrepare }) => holdsForPrepare);
  const context = runContext({ ...options, planChecks });
  const { plan } = await planOn(context, upRun, {});
  const columns = columnsIn(plan);
  checkRefused(columns);
  const prepared: PreparedColumn[] = [];
  for (const one of columns) {
    const { action, migration, waitsFor } = one;
    const { table, path } = action;
    const column = { version: migration.version, name: migration.name, table, path };
    if (waitsFor !== undefined) {
      prepared.push({ ...column, waitsFor });
      continue;
    }
    if (!(await prepareColumn(one, choice, context))) continue;
    const { target, ledger } = context;
    const progress = await preparedProgress(action, target, ledger, { shard });
    const neighbours = shard === undefined ? await neighboursIn(action, target) : undefined;
    prepared.push({ ...column, progress, neighbours });
  }
  return prepared;
}

/** Refuses before any column is prepared. Throws ERR_STEP_WOULD_FAIL. */
function checkRefused(columns: readonly Preparable[]): void {
  for (const { place, refusal, waitsFor } of columns)
    if (waitsFor === undefined && refusal?.reason === "failure")
      throw new MigrateError("ERR_STEP_WOULD_FAIL", { ...place, problem: refusal.problem });
}

/** Only information, so that a failure does no harm. */
async function neighboursIn(action: PrepareColumnAction, target: Target): Promise<SharedNeighbours | undefined> {
  return await compareNeighbours(action, withRows(target)).catch(() => undefined);
}

function columnsIn({ migrations }: Plan): readonly Preparable[] {
  const found: Preparable[] = [];
  // By table: the first pending migration that changes it.
  const changed = new Map<string, MigrationName>();
  for (const { migration, actions } of migrations)
    for (const { action, place, refusal } of actions) {
      if (action.kind === "prepareColumn")
        found.push({ migration, place, action, refusal, waitsFor: changed.get(action.table) });
      else for (const table of tablesOfAction(action)) if (!changed.has(table)) changed.set(table, migration);
    }
  return found;
}

/** Whether the column is still pending when others that compute it have ended. */
async function prepareColumn(one: Preparable, choice: PrepareChoice, context: RunContext): Promise<boolean> {
  const { shard } = choice;
  const { action, place } = one;
  const { target, ledger, emit } = context;
  const { table, path } = action;
  const own = preparingName(ledger, action, shard);
  const isPending = async () => {
    const { plan } = await planOn({ ...context, emit: () => {} }, unchecked, {});
    return columnsIn(plan).some((now) => now.waitsFor === undefined && stepHash(now.action) === stepHash(action));
  };
  const act = async (lease: Lease) => {
    if (!(await isPending())) return false;
    const mayWrite = async () => {
      if (!lease.isSure()) await lease.check();
    };
    const entered = recordPhases(lease);
    emit({ event: "preparing", table, path });
    const executors = await (await computingOf(context)).executors();
    const able = withExecutors(target, executors, { ...context, ...choice, mayWrite, entered, onlyReports: true });
    try {
      await able.execute(action, undefined);
    } catch (cause) {
      if (isMigrateError(cause)) throw cause;
      throw new MigrateError("ERR_PREPARE_FAILED", { ...place, problem: able.explain(cause) }, { cause });
    }
    await lease.state(preparedDetail).catch(() => {});
    return true;
  };
  const leases = preparingsOf(await target.listTables(), ledger, action);
  // Two processes that compute the same rows would pay for them twice. The other shards of as many compute others.
  for (const name of leases.filter((other) => other !== own && !areSiblings(other, own)))
    await underLease(name, context, async () => {});
  return await underLease(own, context, act);
}
