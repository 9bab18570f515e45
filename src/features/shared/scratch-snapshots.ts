/** The tables of a scratch database, and how a run on it differs from one on a real target. */
import type { Table } from "../../schema/table.ts";
import type { Scratch } from "../../targets/contract/target.ts";

/** Only this run uses the copy: its lease must not expire on a slow machine, and it needs no guards against losses. */
export const alone = {
  lease: { duration: 3_600_000, patience: 0 },
  guards: undefined,
  planChecks: undefined,
  hooks: undefined,
  listeners: undefined,
};

/** A table of the copy, with the count and checksum of its rows. */
export interface CopySnapshot {
  readonly table: Table | undefined;
  readonly version?: number | undefined;
  readonly rows: { readonly count: number; readonly sum: string | undefined };
}

export type CopySnapshots = ReadonlyMap<string, CopySnapshot>;

export async function describeScratch(scratch: Scratch, tables: readonly string[]): Promise<CopySnapshots> {
  const snapshots = new Map<string, CopySnapshot>();
  for (const table of tables) {
    const found = await scratch.target.describeTable(table, true);
    snapshots.set(table, { table: found?.table, version: found?.version, rows: await scratch.rows(table) });
  }
  return snapshots;
}

export function sameRows({ rows: one }: Pick<CopySnapshot, "rows">, { rows: other }: CopySnapshot): boolean {
  return one.count === other.count && one.sum === other.sum;
}
