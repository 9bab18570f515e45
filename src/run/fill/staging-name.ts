import type { FillColumnAction } from "../../actions/model/action.ts";
import { stepHash } from "../../migrations/checksum.ts";
import type { Shard } from "./shard.ts";

/** The table in which values are collected until they are merged. Markers of a ledger have no such names. */
export function stagingName(ledger: string, { table, path }: FillColumnAction, shard?: Shard): string {
  const name = `${ledger}.computed-${stepHash({ table, path })}`;
  return shard === undefined ? name : `${name}-${shard.index}-of-${shard.of}`;
}

/** Those of these tables that hold values of this column, whichever shard has computed them. */
export function stagingsOf(tables: readonly string[], ledger: string, action: FillColumnAction): readonly string[] {
  const name = stagingName(ledger, action);
  return tables.filter((table) => table === name || table.startsWith(`${name}-`));
}

/** Whether a table has such a name. */
export function isStaging(name: string, ledger: string): boolean {
  return name.startsWith(`${ledger}.computed-`);
}
