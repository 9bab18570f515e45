/** Removes what `prepare` has left, for migrations that are no longer wanted. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import { isKeptMark, isPrepared, keptMark } from "../../../actions/rewrite/prepared-columns.ts";
import { isHalfDone, type LedgerState } from "../../../ledger/state/ledger-state.ts";
import { formatMigration } from "../../../migrations/file-name.ts";
import { byPart, isPreparing } from "../compute/staging-name.ts";
import { underLease } from "./under-lease.ts";
import { withLease } from "../../../run/lease/with-lease.ts";
import { findSwitchedBack } from "../watch/find-stale.ts";
import { runContext, type MigratorOptions, type RunContext } from "../../../run/run-context.ts";
import { formatPath } from "../../../schema/path.ts";
import { patience, retry } from "../../../targets/contract/retry.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { isStaging } from "../../../ledger/journal/marker-name.ts";

export interface Discarded {
  /** The tables from which columns were dropped. */
  readonly tables: readonly string[];
  /** How many computed values were dropped that were not in a column yet. */
  readonly values: number;
}

/** Throws ERR_USAGE if a migration is half-done: it needs its columns. */
export async function discardPrepared(options: MigratorOptions): Promise<Discarded> {
  const context = runContext(options);
  const { rows } = context.target;
  if (rows === undefined) return { tables: [], values: 0 };
  return await withLease(context, {
    async prepare({ state }) {
      const halfDone = [...state.migrations.values()].find(isHalfDone);
      if (halfDone !== undefined)
        throw new MigrateError("ERR_USAGE", {
          problem: `${formatMigration(halfDone)} is not finished and may need its prepared columns; run migrate up, or migrate down, first`,
        });
      return { first: undefined, act: async () => await discard(context, rows, await neededMarks(context, state)) };
    },
  });
}

type IsNeeded = (table: string, mark: string) => boolean;

/** All kept marks but those that a rollback has left, of a column that a pending migration would switch again. */
async function neededMarks(context: RunContext, state: LedgerState): Promise<IsNeeded> {
  const left = await findSwitchedBack(context, state);
  return (table, mark) => !left.some((one) => one.table === table && keptMark(one.keep) === mark);
}

/** Drops the prepared columns of a table. Whether there were any. */
export async function dropPrepared(
  target: Target,
  table: string,
  isNeeded: IsNeeded = (_, mark) => isKeptMark(mark),
): Promise<boolean> {
  const columns = ((await target.rows?.columns(table)) ?? []).filter(
    ({ name }) => isPrepared(name) && !(isKeptMark(name) && isNeeded(table, name)),
  );
  if (columns.length === 0) return false;
  const paths = columns.map(({ name }) => formatPath([name]));
  await target.execute({ kind: "dropColumns", table, paths }, await target.describeTable(table));
  return true;
}

async function discard(context: RunContext, rows: RowAccess, isNeeded: IsNeeded): Promise<Discarded> {
  const { target, ledger, clock } = context;
  const discarded: string[] = [];
  const tables = await target.listTables();
  // An index that is created on a column while it is dropped breaks the table (docs/internals/engine.md).
  for (const name of tables) if (isPreparing(name, ledger)) await underLease(name, context, async () => {});
  for (const table of tables.filter((name) => name !== ledger && !name.startsWith(`${ledger}.`))) {
    const drop = async () => await dropPrepared(target, table, isNeeded);
    if (await retry(drop, (error) => target.verdict(error), clock, patience.conflict)) discarded.push(table);
  }
  let values = 0;
  for (const name of tables
    .filter((table) => isStaging(table, ledger))
    .toSorted(byPart)
    .toReversed()) {
    if (!isPreparing(name, ledger)) values += (await target.countRows?.(name).catch(() => 0)) ?? 0;
    await rows.drop(name);
  }
  return { tables: discarded, values };
}
