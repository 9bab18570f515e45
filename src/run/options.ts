/** What every run needs. */
import type { Clock } from "../time/clock.ts";
import type { Runner } from "../ledger/lease/record-chain.ts";
import type { MigrationSource } from "../migrations/source.ts";
import type { Guards } from "../plan/assess/guards.ts";
import type { Target } from "../targets/contract/target.ts";
import type { Emit } from "./events.ts";

export interface MigratorOptions {
  readonly target: Target;
  readonly migrations: MigrationSource;
  /** The ledger's table. */
  readonly ledger: string;
  readonly lease: {
    /** Milliseconds for which the ledger may stand still before another runner takes over. */
    readonly duration: number;
    /** Milliseconds to wait for another runner. */
    readonly patience: number;
  };
  /** Without them whatever a migration loses is accepted. */
  readonly guards?: Guards | undefined;
  readonly clock?: Clock | undefined;
  readonly runner?: Runner | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly emit?: Emit | undefined;
}
