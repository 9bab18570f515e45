/** All that one schedule is made of. */
import { isMigrateError } from "../errors.ts";
import type { MemoryTables } from "../targets/memory/tables.ts";
import type { Chance } from "./chance.ts";
import type { Machine, Trouble } from "./machine.ts";
import type { Weather } from "./network.ts";
import type { Reference } from "./reference.ts";
import type { Scenario } from "./scenario.ts";
import type { Watcher } from "./watcher.ts";
import type { World } from "./world.ts";

export const ledger = "_migrations";

/** A patience, in leases, that lasts until everybody else has ended or died, where nothing but that goes wrong. */
export const longWait = 60;

/** What the runs are for. */
export interface Goal {
  /** The version that everything above is taken back of; undefined to apply everything. */
  readonly backTo: number | undefined;
  /** How many migrations are applied in the end. */
  readonly total: number;
}

/** What a run in either direction gives. */
export interface RunResult {
  /** How many migrations it applied, or took back. */
  readonly changed: number;
  readonly total: number;
}

export interface Scene extends Scenario {
  readonly goal: Goal;
  readonly world: World;
  readonly chance: Chance;
  readonly tables: MemoryTables;
  readonly reference: Reference;
  readonly weather: Weather;
  /** The shortest one of all runs, in milliseconds. */
  readonly lease: number;
  /** Actions that the data stands in the way of. */
  readonly refused: Set<string>;
  readonly runs: SimulatedRun[];
  /** Actions that took effect at a service after somebody else had taken the lease. */
  readonly late: LateEffect[];
  readonly watcher: Watcher;
}

export interface SimulatedRun {
  readonly machine: Machine;
  readonly trouble: Trouble;
  readonly weather: Weather;
  /** How many of the migrations it has files of. */
  readonly files: number;
  /** Milliseconds; not everyone's configuration says the same. */
  readonly lease: number;
  readonly patience: number;
  /** Undefined while it runs, and for ever when it was killed. */
  ended: { readonly result: RunResult } | { readonly error: unknown } | undefined;
}

export interface LateEffect {
  readonly sender: Machine;
  /** Whether it reached the tables before somebody else had taken over. */
  readonly arrivedInTime: boolean;
  /** The table of which it renamed columns. */
  readonly renamed: string | undefined;
}

export function isLedger(table: string): boolean {
  return table === ledger || table.startsWith(`${ledger}.`);
}

export function wordsOf(error: unknown): string {
  return isMigrateError(error) ? `${error.code}: ${error.message}` : String((error as Error)?.stack ?? error);
}
