/** What is known of computed columns and rows, and of vector indexes, for plans and for those who look. */
import type { MigrateError } from "../errors/migrate-error.ts";
import type { Lease } from "../ledger/lease/lease.ts";
import type { PlannedAction } from "../plan/make-plan.ts";
import type { MeasuredRecall, RunEvent } from "./events.ts";
import type { Phase } from "./phase.ts";

/** Why actions can't use their keys, and the actions whose keys are known to be usable. The others are unknown. */
export interface KeyCheck {
  readonly problems: ReadonlyMap<PlannedAction, string>;
  readonly usable: ReadonlySet<PlannedAction>;
}

/** A column that `migrate prepare` has begun to prepare. */
export interface PreparingColumn extends PreparingState {
  readonly table: string;
  readonly path: string;
  readonly progress: PreparedProgress;
}

export interface PreparingState {
  /**
   * `running`: a process has a lease that has not run out. `stopped`: one was interrupted, has failed, or has written no
   * record for the time of its lease. `ended`: it has prepared all that it was to prepare.
   */
  readonly state: "running" | "stopped" | "ended" | "unknown";
  /** The user, the machine and the process. */
  readonly by?: string | undefined;
  /** When it began, and when it was heard of last, by its clock. */
  readonly since?: number | undefined;
  readonly at?: number | undefined;
  /** What it does, or did last. */
  readonly phase?: Phase | undefined;
}

export interface PreparedProgress {
  /** How many rows the step computes in all. */
  readonly rows: number;
  /** How many of them have a value of their present sources, or one that waits to be merged. */
  readonly computed: number;
  /** For how many the code failed; of a shard, for how many of its own. */
  readonly failed: number;
  /** How many rows are computed per second now; undefined if it is unknown. */
  readonly perSecond: number | undefined;
}

/** Rows of watched columns that applications have left without a right value, under a lease or before it. */
export interface WaitingRows {
  /** The watched columns, as the ledger states them. */
  readonly names: readonly string[];
  /** Whether there is something to compute or to drop. */
  readonly mayHelp: boolean;
  /** Reported when everything else is done. */
  readonly unknown: readonly RunEvent[];
  /** Returns the limit of calls if it is reached. */
  compute(lease: Lease): Promise<MigrateError | undefined>;
  /** Drops the tables of computed values that a killed run has left after it had merged them. */
  dropMerged(): Promise<void>;
}

export const noRows: WaitingRows = {
  names: [],
  mayHelp: false,
  unknown: [],
  compute: async () => undefined,
  async dropMerged() {},
};

export interface RecallChoice {
  /** By default those of the index's own condition, or of `createIndex`. */
  readonly k?: number | undefined;
  readonly sample?: number | undefined;
}

export interface IndexRecall extends MeasuredRecall {
  readonly table: string;
  readonly index: string;
  readonly column: string;
  readonly k: number;
  /** The least recall that its migration requires, for this `k`; undefined if it requires none. */
  readonly minRecall: number | undefined;
}

export function isTooLow({ recall, minRecall }: IndexRecall): boolean {
  return recall !== undefined && minRecall !== undefined && recall < minRecall;
}

/** What running code of the project on some rows has shown. */
export interface CodeSample {
  /** How many rows got a value that fits the column. */
  readonly computed: number;
  readonly failed: number;
  /** Why rows failed: the first few. */
  readonly problems: readonly string[];
  /** Why `up` would stop; undefined if it would not. */
  readonly failure: string | undefined;
  readonly calls: number;
  /** Milliseconds of a call that succeeded: the median. */
  readonly callTime: number | undefined;
  /** At the step's concurrency and limits. */
  readonly rowsPerSecond: number | undefined;
  /** Whether the first calls are left out of `rowsPerSecond`: the code may load a model in them. */
  readonly isSteady: boolean;
}

export type StepSample =
  | (CodeSample & {
      /** How many rows the step computes. */
      readonly total: number;
      /** About how many milliseconds the code takes for all of them. */
      readonly duration: number | undefined;
    })
  /** Why the code was not tried. */
  | { readonly untried: string };

/** Whether and how values can be loaded into a new column with files of the column. */
export interface LoaderState {
  readonly usable: boolean;
  /** With which Python, or why not. */
  readonly text: string;
}
