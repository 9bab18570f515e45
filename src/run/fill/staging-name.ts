import type { FillColumnAction } from "../../actions/model/action.ts";
import { stepHash } from "../../migrations/checksum.ts";

/** The table in which values are collected until they are merged. Markers of a ledger have no such names. */
export function stagingName(ledger: string, { table, path }: FillColumnAction): string {
  return `${ledger}.computed-${stepHash({ table, path })}`;
}

/** Whether a table has such a name. */
export function isStaging(name: string, ledger: string): boolean {
  return name.startsWith(`${ledger}.computed-`);
}
