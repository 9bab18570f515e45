/** What a report of many databases shows of each. Only the ledger is read: nothing is planned, and no table is compared. */
import type { ErrorCode } from "../../errors/migrate-error.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import { status } from "../../commands/status.ts";
import { timeText } from "./runs.ts";

export interface FleetDocument {
  readonly format: 1;
  readonly target: string;
  readonly madeAt: string;
  /** The release that made it. */
  readonly tool: string;
  /** In the order of the configuration. */
  readonly databases: readonly FleetDatabase[];
}

/** `duration`: milliseconds. */
export type FleetDatabase = { readonly name: string; readonly duration: number } & (DatabaseState | UnreadDatabase);

export interface UnreadDatabase {
  readonly error: { readonly code: ErrorCode | "ERR_INTERNAL"; readonly message: string };
}

export interface DatabaseState {
  readonly applied: number;
  /** The migration that ran last. */
  readonly last?: (Pick<LedgerMigration, "version" | "name" | "by"> & { readonly at: string }) | undefined;
  readonly pending: number;
  /** Migrations that have begun and are not complete, or are being rolled back, as numbers. */
  readonly unfinished: readonly number[];
  /** Why `migrate up` would refuse to run, and what is in doubt, as text. */
  readonly problems: readonly string[];
  /** The user, machine and process that hold the lease. */
  readonly holder?: string | undefined;
}

export async function databaseState(options: MigratorOptions): Promise<DatabaseState> {
  const { applied, pending, reverting, begun, changed, doubts, holder, problem } = await status(options);
  const last = applied.toSorted((one, other) => one.order - other.order).at(-1);
  const partial = pending.filter((one) => one.partial !== undefined);
  return {
    applied: applied.length,
    last: last && { version: last.version, name: last.name, by: last.by, at: timeText(last.at) },
    pending: pending.length,
    unfinished: [...new Set([...reverting, ...begun, ...partial].map(({ version }) => version))],
    problems: [...(problem === undefined ? [] : [problem]), ...changed.map((one) => one.problem), ...doubts],
    holder,
  };
}
