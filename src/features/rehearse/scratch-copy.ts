/** Fills the copy for a rehearsal: tables, cloned or with generated rows, and a ledger of the applied migrations. */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { entriesFromLedger } from "../../plan/history/record-facts.ts";
import { follow, tableBefore } from "../../actions/follow.ts";
import { computedIn, sourceNow } from "../../plan/assess/rows-to-compute.ts";
import type { Plan } from "../../plan/make-plan.ts";
import { touchedTables } from "../../plan/reconcile/reconcile.ts";
import { columnPaths, findColumn, type Table } from "../../schema/table.ts";
import type { Action, ActionKind } from "../../actions/model/action.ts";
import { describeAction } from "../../actions/apply-action.ts";
import { formatPath } from "../../schema/path.ts";
import { isRecreatable, isVectorIndex, vectorsNeeded, type TableIndex } from "../../schema/table-index.ts";
import type { Scratch, Target } from "../../targets/contract/target.ts";
import type { PlannedOn } from "../../commands/run.ts";
import { computingOf, runContext, type MigratorOptions } from "../../run/run-context.ts";
import { recording, withLease } from "../../run/lease/with-lease.ts";
import { throwIfInterrupted } from "../../run/lease/wait-for-lease.ts";

/** A table of the copy. `cloned`: it has the rows of the live table. */
export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  readonly cloned: boolean;
}

/**
 * Puts the tables that the plan touches on the copy, as they are now, and the ledger. Returns the tables. `rows`: how
 * many to generate for each table that can't be cloned.
 */
export async function fillCopy(
  options: MigratorOptions,
  { plan, state }: PlannedOn,
  rows: number,
  scratch: Scratch,
): Promise<readonly CopiedTable[]> {
  const { target, ledger, signal, clock, lease } = options;
  const there = touchedTables(plan).filter((table) => plan.now.has(table));
  const copied: CopiedTable[] = [];
  if (target.copyTo !== undefined) await target.copyTo(scratch.folder, there);
  for (const table of there) {
    throwIfInterrupted(signal);
    const cloned = target.copyTo !== undefined;
    // The rehearsal prepares columns itself, with other values, as it runs no code.
    if (cloned) await (await computingOf(options)).dropPrepared(scratch.target, table);
    const has = cloned
      ? await scratch.target.countRows!(table)
      : await createSample(scratch, table, plan.now.get(table)!, rowsFor(table, plan, rows), keysIn(table, plan));
    copied.push({ table, rows: has, cloned });
  }
  await writeLedger({ target: scratch.target, ledger, clock, lease, signal, migrations: nowhere }, state);
  return copied;
}

/** The most rows generated for an index. One that needs more gets one partition, or requires `--rows`. */
const mostForIndexes = 10_000;

/**
 * The number of rows to generate: at least enough for the vector indexes that the table has or gets. The engine makes no
 * index of too few vectors.
 */
function rowsFor(table: string, { now, migrations }: Plan, wanted: number): number {
  const own = Object.values(now.get(table)!.indexes ?? {}).filter((index) => index !== null);
  const actions = migrations.flatMap((planned) => planned.actions.map(({ action }) => action));
  const made = actions.flatMap((action, at) => {
    if (action.kind !== "createIndex") return [];
    const isThis = follow({ table, path: [] }, actions.slice(0, at))?.table === action.table;
    return isThis ? [action.index] : [];
  });
  const vectors = Math.max(0, ...[...own, ...made].filter(isVectorIndex).map((index) => vectorsNeeded(index)));
  return Math.max(wanted, Math.min(mostForIndexes, vectors));
}

/**
 * The columns that identify rows for code. All columns if a key is computed from others first: its values then differ if
 * theirs do.
 */
function keysIn(table: string, { now, migrations }: Plan): ReadonlySet<string> {
  const planned = migrations.flatMap(({ actions }) => actions);
  const keys = planned.flatMap(({ action, commits }, at) => {
    const values = computedIn(commits);
    const before = planned.slice(0, at).map((one) => one.action);
    if (values === undefined || tableBefore(action.table, before, now) !== table) return [];
    const path = sourceNow({ table: action.table, path: [values.how.key] }, before, now);
    return path === undefined ? now.get(table)!.columns.map(({ name }) => name) : [path[0]!];
  });
  return new Set(keys);
}

/** The index with one partition if `rows` generated vectors are too few for those that it has. */
function asSmallAs(rows: number, index: TableIndex): TableIndex {
  const { numPartitions } = index.options;
  if (typeof numPartitions !== "number" || numPartitions <= rows) return index;
  return { ...index, options: { ...index.options, numPartitions: 1 } };
}

const nowhere: MigratorOptions["migrations"] = {
  list: () => [],
  load: () => Promise.reject(new Error("nothing is loaded to write a ledger")),
};

/** Makes a table with its columns, their metadata, its indexes and generated rows. Returns the number of rows. */
async function createSample(
  { target, createSample: create }: Scratch,
  table: string,
  wanted: Table,
  rows: number,
  keys: ReadonlySet<string>,
): Promise<number> {
  const { columns, indexes = {} } = wanted;
  const created = await create(table, wanted, rows, keys);
  const updates = columnPaths(columns).flatMap((path) => {
    const known = Object.entries(findColumn(columns, path)?.metadata ?? {}).filter(([, value]) => value !== null);
    return known.length === 0 ? [] : [{ path: formatPath(path), metadata: Object.fromEntries(known) }];
  });
  if (updates.length > 0) await act(target, { kind: "setMetadata", table, updates });
  for (const [name, index] of Object.entries(indexes))
    if (index !== null && isRecreatable(index))
      await act(target, { kind: "createIndex", table, name, index: asSmallAs(created, index) });
  return created;
}

async function act(target: Target, action: Action): Promise<void> {
  try {
    await target.execute(action, await target.describeTable(action.table));
  } catch (cause) {
    const problem = `${describeAction(action)}: ${target.explain(cause)}`;
    throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: target.name, problem }, { cause });
  }
}

/** Writes a ledger for the copy, in which no run holds the lease. */
async function writeLedger(options: MigratorOptions, { migrations, ...state }: LedgerState): Promise<void> {
  // Not applied are only migrations that failed before anything was done, which have left nothing on the copy.
  const applied = new Map([...migrations].filter(([, { status }]) => status === "applied"));
  if (applied.size === 0) return;
  const entries = entriesFromLedger({ ...state, migrations: applied });
  await withLease(runContext(options), { prepare: async () => recording(options, { entries, result: undefined }) });
}

/** The copy as a target, limited to what the real target can do. */
export function inPlaceOf({ capabilities: { actions, refuses } }: Target, copy: Target): Target {
  const kinds = Object.entries(copy.capabilities.actions).map(([kind, able]) => {
    const known = actions[kind as ActionKind];
    return [kind, known === true ? able : known] as const;
  });
  return { ...copy, capabilities: { ...copy.capabilities, actions: Object.fromEntries(kinds), refuses } };
}
