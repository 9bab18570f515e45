/**
 * Computes what pending migrations need and applications don't see: the new values of columns that `reembedColumn`
 * changes, and the indexes on them. `up` then has little left to do. Changes no ledger, so other migrations may run
 * meanwhile.
 */
import { isMigrateError, MigrateError, type StepPlace } from "../errors/migrate-error.ts";
import type { PrepareColumnAction } from "../actions/model/action.ts";
import { tablesOfAction } from "../actions/apply-action.ts";
import { journalOf } from "../ledger/journal/open-journal.ts";
import type { Lease } from "../ledger/lease/lease.ts";
import type { MigrationName } from "../migrations/file-name.ts";
import type { Plan } from "../plan/make-plan.ts";
import { preparedProgress, type PreparedProgress } from "../run/fill/prepared-progress.ts";
import type { Shard } from "../run/fill/shard.ts";
import { preparingName } from "../run/fill/staging-name.ts";
import { compute, explainFill } from "../run/fill/with-fill.ts";
import { compareNeighbours, type SharedNeighbours } from "../run/recall/compare-neighbours.ts";
import { withLease } from "../run/lease/with-lease.ts";
import { runContext, type MigratorOptions, type RunContext } from "../run/run-context.ts";
import type { RowAccess } from "../targets/contract/row-access.ts";
import type { Target } from "../targets/contract/target.ts";
import { planOn } from "./migrate.ts";
import { upward } from "./upward.ts";

export interface PrepareChoice {
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
interface Preparable extends Pick<PreparedColumn, "waitsFor"> {
  readonly migration: MigrationName;
  readonly place: StepPlace;
  readonly action: PrepareColumnAction;
}

/** Throws ERR_PREPARE_FAILED; what was computed before is kept. */
export async function prepare(
  options: MigratorOptions,
  { shard }: PrepareChoice = {},
): Promise<readonly PreparedColumn[]> {
  const context = runContext(options);
  const { plan } = await planOn(context, upward, {});
  const prepared: PreparedColumn[] = [];
  for (const one of columnsIn(plan)) {
    const { action, migration, waitsFor } = one;
    const { table, path } = action;
    const column = { version: migration.version, name: migration.name, table, path };
    if (waitsFor !== undefined) {
      prepared.push({ ...column, waitsFor });
      continue;
    }
    await prepareColumn(one, shard, context);
    const { target, ledger } = context;
    const progress = await preparedProgress(action, target, ledger);
    const neighbours = shard === undefined ? await compareNeighbours(action, withRows(target).rows) : undefined;
    prepared.push({ ...column, progress, neighbours });
  }
  return prepared;
}

function columnsIn({ migrations }: Plan): readonly Preparable[] {
  const found: Preparable[] = [];
  // By table: the first pending migration that changes it.
  const changed = new Map<string, MigrationName>();
  for (const { migration, actions } of migrations)
    for (const { action, place } of actions) {
      if (action.kind === "prepareColumn")
        found.push({ migration, place, action, waitsFor: changed.get(action.table) });
      else for (const table of tablesOfAction(action)) if (!changed.has(table)) changed.set(table, migration);
    }
  return found;
}

async function prepareColumn(
  { action, place }: Preparable,
  shard: Shard | undefined,
  context: RunContext,
): Promise<void> {
  const { target, ledger, clock, emit } = context;
  const { table, path } = action;
  const own = preparingName(ledger, action, shard);
  // The index is created when the rows of all shards are computed.
  const wanted = shard === undefined ? action : { ...action, index: undefined };
  const act = async (lease: Lease) => {
    const mayWrite = async () => {
      if (!lease.isSure()) await lease.check();
    };
    emit({ event: "preparing", table, path });
    try {
      await compute(wanted, withRows(target), { ...context, shard, mayWrite });
    } catch (cause) {
      if (isMigrateError(cause)) throw cause;
      throw new MigrateError("ERR_PREPARE_FAILED", { ...place, problem: explainFill(cause, target) }, { cause });
    }
  };
  // Two processes that compute the same rows would pay for them twice. The lease of migrations stays free.
  const leased = { ...context, ledger: own, journal: journalOf(target, own, clock) };
  await withLease(leased, { prepare: async () => ({ first: undefined, act }) });
}

/** A plan with such a step is refused on targets that have no rows. */
function withRows(target: Target): Target & { readonly rows: RowAccess } {
  const { rows } = target;
  if (rows === undefined) throw new TypeError(`${target.name} can't read rows`);
  return { ...target, rows };
}
