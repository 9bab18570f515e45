/** All that one schedule is made of. */
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import type { Action } from "../../src/actions/model/action.ts";
import type { Tear } from "./target/memory-target.ts";
import type { MemoryTables } from "./target/memory-table.ts";
import type { Cut } from "./draw-faults.ts";
import type { Chance } from "./seeded-random.ts";
import type { Machine, Sleepers, Trouble } from "./machine.ts";
import type { Weather } from "./network.ts";
import type { Reference } from "./reference-model.ts";
import type { Scenario } from "./scenario.ts";
import type { Order, Orders, Goal, RunResult } from "./run-variants.ts";
import type { Watcher } from "./observer.ts";
import type { Row } from "../../src/wire/rows/ipc-rows.ts";
import type { World } from "./virtual-time.ts";

/** A patience, in leases, that lasts until everybody else has ended or died, where nothing but that goes wrong. */
export const longWait = 60;

export interface Scene extends Scenario {
  readonly goal: Goal;
  readonly world: World;
  readonly chance: Chance;
  readonly tables: MemoryTables;
  readonly orders: Orders;
  readonly reference: Reference;
  readonly weather: Weather;
  readonly cut: Cut;
  readonly sleepers: Sleepers;
  /** The shortest one of all runs, in milliseconds. */
  readonly lease: number;
  /** Actions that the data stands in the way of. */
  readonly refused: Set<string>;
  readonly runs: SimulatedRun[];
  /** Actions that took effect at a service after somebody else had taken the lease. */
  readonly late: LateEffect[];
  /** Names of indexes that a service made when the run that had asked for them no longer waited, or held the lease no more. */
  readonly strays: Set<string>;
  /** What calls of runs have destroyed. */
  losses: readonly Loss[];
  /** Calls that were sent though their sender could have known that the lease was another's. */
  readonly careless: string[];
  /** Versions that runs reported as not kept, as the refusal of a rollback names them. */
  readonly unkept: string[];
  /** Whether a run in the other direction had to settle what was in doubt: then steps take effect more than once. */
  turned: boolean;
  /** Whether a change of rows took effect when its sender no longer waited for it: it may have been sent once more. */
  repeated: boolean;
  readonly application: Application;
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
  readonly order: Order;
  /** The tables that its saved plan was made for, by when each was created; undefined where it has none. */
  boundTo?: Map<string, number> | undefined;
  /** Tables that it changed though its saved plan was made for other ones of these names. */
  readonly strayed: string[];
  /** Those of these tables that had been recreated already when it was to carry out its plan, and that no migration had replaced since. */
  outdated: readonly string[];
  /** Rows that it must not lose unasked when it rolls back: those that existed when it began, or came after its plan was saved. */
  found: readonly Row[];
  /** What it said that goes, or may go, with what it rolls back. */
  readonly accepted: string[];
  /** Undefined while it runs, and for ever when it was killed. */
  ended: { readonly result: RunResult } | { readonly error: unknown } | undefined;
  /** Whether it had the lease, and another run had taken it when it ended. */
  isSuperseded: boolean;
}

/** Applications that use the tables meanwhile. */
export interface Application {
  readonly does: ReadonlySet<string>;
  /** The names of the tables that it has dropped and created again. */
  readonly recreated: ReadonlySet<string>;
  /** Whether it has removed or replaced that row itself. */
  readonly hasRemoved: (row: Row) => boolean;
  /** Called when a call has arrived at the tables and has not yet taken effect. */
  readonly meanwhile: (action: Action) => void;
  /** Called when a machine was killed. */
  readonly afterKill: () => void;
  /** Called when a kept version of the table was released. */
  readonly afterRelease: (table: string) => void;
  /** How the next list of tables is torn. */
  readonly tear: () => Tear | undefined;
  /** Lets it do things now and then, for so many milliseconds. */
  readonly begin: (milliseconds: number) => void;
  /** It does nothing more. */
  readonly end: () => void;
}

/** Something that an application has written, or a table, as a call of a run has destroyed it. */
export interface Loss {
  readonly sender: Machine;
  readonly table: string;
  /** Where it is metadata of one. */
  readonly column?: string | undefined;
  /** The version in which the table got it, where it is metadata. */
  readonly since?: number | undefined;
  /** Where it is a row. */
  readonly row?: Row | undefined;
  /** In words. */
  readonly what: string;
  /** Whether it has not come back. */
  readonly isLost: () => boolean;
}

export interface LateEffect {
  readonly sender: Machine;
  readonly table: string;
  /** Whether it reached the tables before somebody else had taken over. */
  readonly arrivedInTime: boolean;
  /** The table of which it renamed columns. */
  readonly renamed: string | undefined;
}

export function wordsOf(error: unknown): string {
  return isMigrateError(error) ? `${error.code}: ${error.message}` : String((error as Error)?.stack ?? error);
}

/** Whether no run that rolls back accepts a loss. */
export function isAsking({ runs }: Scene): boolean {
  return runs.every(({ order }) => order.direction === "up" || !order.acceptLoss);
}
