/** Describes the tables for a plan or a comparison, while other runs may change them. */
import { sameTable, type Table, type Tables } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import { throwIfInterrupted } from "../lease/wait-for-lease.ts";

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
  signal?: AbortSignal,
): Promise<Tables> {
  let before: Tables | undefined;
  for (;;) {
    const snapshots = new Map<string, Table | undefined>();
    for (const table of tables) snapshots.set(table, (await target.describeTable(table, indexed.has(table)))?.table);
    if (areStill || tables.every((table) => before?.has(table) && sameTable(before.get(table), snapshots.get(table))))
      return snapshots;
    throwIfInterrupted(signal);
    before = snapshots;
  }
}

/** The tables as they are now; without columns if the target can't describe them. */
export async function describeForComparison(
  target: Target,
  tables: readonly string[],
  indexed: ReadonlySet<string>,
  besideAnother: boolean,
  signal?: AbortSignal,
): Promise<Tables> {
  if (target.capabilities.describes) return await describeForPlan(target, tables, indexed, !besideAnother, signal);
  const names = new Set(await target.listTables());
  return new Map(tables.map((table) => [table, names.has(table) ? { columns: [] } : undefined]));
}
