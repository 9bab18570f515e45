/**
 * How to write a target:
 * 1. `options`: a strict zod object with its `kind`, so that the configuration's type follows from it.
 * 2. `open(options, context)`: may connect lazily; says ERR_TARGET_UNREACHABLE when it can't.
 * 3. `capabilities`: what it can do, and in words why it can't do the rest. The plan refuses by them.
 * 4. `execute`: each action as one atomic commit; never repeated by the target itself.
 * 5. `records`: a small table for the ledger, where `capabilities.journal` is "rows".
 * 6. Add it to targets/index.ts and run the contract suite on it (test/contract).
 */
import type { Action, ActionKind } from "../schema/action.ts";
import type { Column } from "../schema/data-type.ts";
import type { Table } from "../schema/table.ts";

export interface Capabilities {
  /** True, or in words why the target can't do it. */
  readonly actions: Readonly<Record<ActionKind, true | string>>;
  /** Whether `look` can tell a table's columns. */
  readonly describes: boolean;
}

/** A table as it was seen. The one who looked acts on what he saw: the target refuses when it has changed since. */
export interface Sight {
  readonly table: Table;
  /** The table's version, where the target tells it. */
  readonly version: number | undefined;
}

export interface Target {
  /** As the configuration calls it. */
  readonly name: string;
  readonly capabilities: Capabilities;
  /** The names of all tables. */
  listTables(): Promise<readonly string[]>;
  /** The table of that name as it is now, or undefined when there is none. */
  look(table: string): Promise<Sight | undefined>;
  /**
   * Carries out one action on what `look` saw, as one atomic commit, and gives the table's new version.
   * Throws whatever the target answers; who called looks again to learn what happened.
   */
  execute(action: Action, seen: Sight | undefined): Promise<number | undefined>;
  /** Whether an error means that another writer's commit came first, so that the same call may well work now. */
  isConflict(error: unknown): boolean;
  /** What the target threw, in one line without places in its source. */
  explain(error: unknown): string;
  /** The small table in which a ledger keeps its records. */
  records(table: string): RecordTable;
  close(): Promise<void>;
}

/** A value of a record; timestamps are milliseconds since 1970. */
export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** A small table that only grows. Reads see what every other process has written. */
export interface RecordTable {
  /** Makes the table, unless it exists, so that of n racing creators all use the same one. `key` is the column that is unique. */
  create(columns: readonly Column[], key: string): Promise<void>;
  /** These columns of every row, in any order; undefined while there is no table. */
  all(columns: readonly string[]): Promise<readonly Row[] | undefined>;
  /** Some columns of the row that is last when ordered by others; undefined without table or rows. Quick however many rows there are. */
  last(order: readonly string[], columns: readonly string[]): Promise<Row | undefined>;
  /** Adds a row unless its key is there; of n racing callers exactly one is told true. */
  insertIfAbsent(row: Row): Promise<boolean>;
  insert(rows: readonly Row[]): Promise<void>;
  /** Merges small files when there are many, leaving alone what others may be reading. Called by one writer at a time. */
  tend(): Promise<void>;
}

/** What every target is opened with. */
export interface OpenContext {
  readonly name: string;
  /** Relative paths of the configuration start here. */
  readonly folder: string;
}
