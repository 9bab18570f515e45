/** The options of every run. */
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
    /** Milliseconds without a new record after which another runner may take over. */
    readonly duration: number;
    /** Milliseconds to wait for another runner. */
    readonly patience: number;
  };
  /** If absent, migrations may lose anything. */
  readonly guards?: Guards | undefined;
  readonly clock?: Clock | undefined;
  readonly runner?: Runner | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly emit?: Emit | undefined;
}
