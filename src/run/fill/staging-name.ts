import { stepHash } from "../../migrations/checksum.ts";
import type { Shard } from "./shard.ts";

/** A column for which code of the project computes values. */
interface Computed {
  readonly table: string;
  readonly path: string;
}

/** The table in which values are collected until they are merged. Markers of a ledger have no such names. */
export function stagingName(ledger: string, { table, path }: Computed, shard?: Shard): string {
  return withShard(`${ledger}.computed-${stepHash({ table, path })}`, shard);
}

/** Those of these tables that hold values of this column, whichever shard has computed them. */
export function stagingsOf(tables: readonly string[], ledger: string, action: Computed): readonly string[] {
  const name = stagingName(ledger, action);
  return tables.filter((table) => table === name || table.startsWith(`${name}-`));
}

/** The ledger of the lease under which a column is prepared, or one shard of it. */
export function preparingName(ledger: string, { table, path }: Computed, shard?: Shard): string {
  return withShard(`${ledger}.preparing-${stepHash({ table, path })}`, shard);
}

/** Those of these tables that are such ledgers of this column. */
export function preparingsOf(tables: readonly string[], ledger: string, column: Computed): readonly string[] {
  const name = preparingName(ledger, column);
  return tables.filter((table) => table === name || table.startsWith(`${name}-`));
}

function withShard(name: string, shard: Shard | undefined): string {
  return shard === undefined ? name : `${name}-${shard.index}-of-${shard.of}`;
}

/** Whether a table holds values that are not merged yet, or a lease under which values are computed. */
export function isStaging(name: string, ledger: string): boolean {
  return name.startsWith(`${ledger}.computed-`) || isPreparing(name, ledger);
}

/** Whether a table is the ledger of a lease under which a column is prepared. */
export function isPreparing(name: string, ledger: string): boolean {
  return name.startsWith(`${ledger}.preparing-`);
}
