/** Tables as they were described together. */
import type { PlannedAction } from "../../plan/make-plan.ts";
import { differences, sameTables, type Tables } from "../../schema/table.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";

/** Snapshots of some tables, by name; undefined if there is no such table. */
export type Snapshots = ReadonlyMap<string, TableSnapshot | undefined>;

export async function describeTables(
  names: Iterable<string>,
  target: Target,
  withIndexes: boolean,
): Promise<Snapshots> {
  const snapshots = new Map<string, TableSnapshot | undefined>();
  for (const name of names) snapshots.set(name, await target.describeTable(name, withIndexes));
  return snapshots;
}

export function tablesInSnapshots(snapshots: Snapshots): Tables {
  return new Map([...snapshots].map(([name, snapshot]) => [name, snapshot?.table]));
}

/** Whether the tables are as after it. */
export async function isAfter({ after }: Pick<PlannedAction, "after">, target: Target): Promise<boolean> {
  return sameTables(after, tablesInSnapshots(await describeTables(after.keys(), target, true)));
}

/** How the tables differ now from those before, in words. */
export async function leftSince(before: Tables, target: Target): Promise<readonly string[]> {
  try {
    const tables = tablesInSnapshots(await describeTables(before.keys(), target, true));
    return [...before].flatMap(([name, table]) =>
      differences(table, tables.get(name)).map((words) => `${name}: ${words}`),
    );
  } catch (error) {
    return [`which part is unknown: ${target.explain(error)}`];
  }
}
