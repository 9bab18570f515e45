/** What a schedule is about. */
import type { Migration } from "../../src/migrations/load.ts";
import type { Action } from "../../src/actions/model/action.ts";
import type { Model } from "./target/carry.ts";

export interface Scenario {
  readonly model: Model;
  readonly migrations: readonly Migration[];
  /** What an application makes itself before the trouble begins, which no migration may lose. */
  readonly beside?: Beside | undefined;
}

export interface Beside {
  /** How many of the migrations have run before. */
  readonly after: number;
  readonly actions: readonly Action[];
}

export const ledger = "_migrations";

export function isLedger(table: string): boolean {
  return table === ledger || table.startsWith(`${ledger}.`);
}
