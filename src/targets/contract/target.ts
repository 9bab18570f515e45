/**
 * How to write a target:
 * 1. `options`: an `exactObject` (src/checks/check.ts) with its `kind`, which checks what the configuration gives.
 * 2. `open(options, context)`: may connect lazily; throws ERR_TARGET_UNREACHABLE if it can't. The type of `options` is
 *    that of the configuration.
 * 3. `capabilities`: what it supports, and as text why it does not support the rest. A plan refuses the rest.
 * 4. `execute`: executes each action as one atomic commit, which the target itself never repeats.
 * 5. `call`: the exact call that `execute` makes, as text, for plans.
 * 6. `ledger`: a small table of rows, or else tables whose names are the records.
 * 7. `inDatabase`: the options of one database, for a target that has several.
 * 8. Add it to targets/index.ts and run the contract suite on it (test/contract).
 */
import type { MigrateError } from "../../errors/migrate-error.ts";
import type { Action, ActionFor, ActionKind } from "../../actions/model/action.ts";
import type { Column } from "../../schema/data-type.ts";
import type { NewTables, TableFormat } from "../../schema/table-format.ts";
import type { Table } from "../../schema/table.ts";
import type { LedgerStore } from "./ledger-store.ts";
import type { View } from "../../wire/lance/view.ts";
import type { TargetCheck } from "./target-check.ts";
import type { RowAccess, WantedValues } from "./row-access.ts";
import type { Versions } from "./versions.ts";

export interface Capabilities {
  /** True for supported kinds; for others, the reason as text if it is more than a missing call. */
  readonly actions: Readonly<Partial<Record<ActionKind, true | string>>>;
  /** Why it does not support an action although it supports the kind, as text; undefined if it supports it. */
  readonly refuses?: ((action: Action, before: Table | undefined) => string | undefined) | undefined;
  /** Whether `describeTable` returns a table's columns. If not, it only shows whether the table exists. */
  readonly describes: boolean;
  /**
   * Whether `execute` refuses an outdated snapshot if the call would undo others' change of columns, and every call
   * gets an answer. This does not prove that a late call did nothing: docs/internals/engine.md.
   */
  readonly fences: boolean;
}

/** A table as it was described. Actions are executed on the snapshot. */
export interface TableSnapshot {
  /** Without columns if the target can't describe tables. */
  readonly table: Table;
  /** The table's version, if the target reports it. */
  readonly version: number | undefined;
  /** When that version was created, if the description includes it. It was read before the table was opened. */
  readonly at?: number | undefined;
  /** The result of the target's `instance`, read before the table was opened. */
  readonly instance?: string | undefined;
}

/**
 * What the error of a call means.
 * - `refused`: nothing was done, and sending the call again would not change that.
 * - `conflict`: nothing was done because another commit came first; the same call may succeed now.
 * - `throttled`: nothing was done; the target asks to be called later.
 * - `unanswered`: it is unknown whether the call was done.
 */
export interface CallOutcome {
  readonly kind: "refused" | "conflict" | "throttled" | "unanswered";
  /** How many milliseconds the target asks to wait. */
  readonly pause?: number | undefined;
  /** How many versions the failed action made, if that is known and may be some. */
  readonly commits?: number | undefined;
}

/** What is known of an action that is done. */
export interface Executed {
  /** The table's new version, if the target reports it. */
  readonly version?: number | undefined;
  /** How many versions the action made, if that depends on the rows. */
  readonly commits?: number | undefined;
}

/** The version that was restored. Or, if none was: `newer` versions of others, or no version before the commit. */
export type UndoResult =
  | { readonly restored: number }
  | { readonly before: number | undefined; readonly newer: readonly number[] };

/** A call that evaluates SQL. */
export type SqlCall =
  | ActionFor<"addColumns" | "updateRows" | "deleteRows">
  | (Omit<WantedValues, "limit"> & { readonly kind: "readRows"; readonly table: string });

export interface Target {
  /** Its name in the configuration. */
  readonly name: string;
  /** Its folder or address, without secrets. */
  readonly place: string;
  readonly capabilities: Capabilities;
  /** Set if what it does is known only from a document: then it is checked before its ledger is made. */
  readonly isUnproven?: boolean | undefined;
  /** Whether what it assumes of the code behind it holds. Absent if it assumes nothing but what can be checked on tables. */
  readonly assumptions?: (() => Promise<readonly TargetCheck[]>) | undefined;
  /** The names of all tables. */
  listTables(): Promise<readonly string[]>;
  /** The current table of that name, with its indexes if requested; undefined if there is none. */
  describeTable(table: string, withIndexes?: boolean): Promise<TableSnapshot | undefined>;
  /**
   * Identifies a table among all that have had its name, even if old versions were cleaned up. Valid for one run only,
   * because a copy of the database has others. Absent if the target can't identify tables; undefined if not this one.
   */
  readonly instance?: ((table: string) => Promise<string | undefined>) | undefined;
  /**
   * Executes one action on `seen`, as one atomic commit. Throws the target's own error; the caller determines what
   * happened.
   */
  execute(action: Action, seen: TableSnapshot | undefined): Promise<Executed>;
  /**
   * Undoes a commit that `execute` made on another table than `seen`, by restoring the version before it. Undefined if
   * it is not proven that this call made the commit.
   */
  readonly undo?: ((action: Action, seen: TableSnapshot, made: number) => Promise<UndoResult | undefined>) | undefined;
  /** What `execute` calls for an action on `before`, as text: the request, or the engine's method with arguments. */
  call(action: Action, before: Table | undefined): Promise<string>;
  verdict(error: unknown): CallOutcome;
  /** The target's error in one line, without locations in its source code. */
  explain(error: unknown): string;
  readonly ledger: LedgerStore;
  /** Set if the target keeps old versions of tables and can restore them. */
  readonly versions?: Versions | undefined;
  /**
   * Counts the rows of a table, or of one of its versions, that match an SQL predicate, or all of them. It may stop at
   * `most`. Absent if the target can't count.
   */
  readonly countRows?:
    | ((table: string, predicate?: string, version?: number, most?: number) => Promise<number>)
    | undefined;
  /**
   * Whether a table with the description that it has after an action also holds what the description does not show:
   * rows or values, now or when it got that description. Undefined if unknown; absent if the target can't be asked.
   */
  readonly holds?: ((action: Action) => Promise<boolean | undefined>) | undefined;
  /** How many rows a table has. Absent if the target can't answer quickly. */
  readonly tableSize?: ((table: string) => Promise<TableSize>) | undefined;
  /**
   * The mean size in bytes of the values of SQL expressions, from a sample of a table with `rows` rows. Undefined if
   * there are no rows; absent if the target can't be queried.
   */
  readonly widths?:
    | ((table: string, expressions: readonly string[], rows: number) => Promise<readonly number[] | undefined>)
    | undefined;
  /** How migrations create tables, if configured. */
  readonly newTables?: NewTables | undefined;
  /** The format of a table's files; undefined if it can't be determined. Absent if the target can't determine any. */
  readonly formatOf?: ((table: string) => TableFormat | undefined) | undefined;
  /** Whether the engine keeps rows of a table in a log beside it, which only searches read. Absent if the target can't tell. */
  readonly keepsLog?: ((table: string) => Promise<boolean>) | undefined;
  /** The tables that read files of this one, as shallow clones do. Absent if the target can't find them. */
  readonly clonesOf?: ((table: string) => Promise<readonly string[]>) | undefined;
  /** The materialized views by their names. Opens each table. Absent if the target can't have any. */
  readonly views?: (() => Promise<ReadonlyMap<string, View>>) | undefined;
  /** The columns, as text, that make describing the table fail. Absent if the target can't determine them. */
  readonly unreadable?: ((table: string) => readonly string[]) | undefined;
  /**
   * Copies tables in their current state into a folder, as an embedded database, and changes nothing in the target.
   * Absent if the target can't.
   */
  readonly copyTo?: ((folder: string, tables: readonly string[]) => Promise<void>) | undefined;
  /**
   * Drops columns of a copy of a table, and changes nothing in the target. Returns the error as text; undefined if it
   * succeeds. Absent if the target can't.
   */
  readonly tryDropping?: ((table: string, paths: readonly string[]) => Promise<string | undefined>) | undefined;
  /**
   * Makes a call on an empty table with these columns, and changes nothing in the target. Returns the error as text;
   * undefined if it succeeds. Absent if the target can't.
   */
  readonly tryCall?: ((columns: readonly Column[], call: SqlCall) => Promise<string | undefined>) | undefined;
  /** Absent if the target can't read and update rows. */
  readonly rows?: RowAccess | undefined;
  /**
   * The error about a damaged file of these tables, or of any; undefined if none is found. Absent if the files can't be
   * read. `ledger`: its table, where it was not opened yet.
   */
  readonly damaged?: ((tables?: Iterable<string>, ledger?: string) => MigrateError | undefined) | undefined;
  /** Drops a scratch table. Absent if the target can't. */
  readonly discard?: ((table: string) => Promise<void>) | undefined;
  close(): Promise<void>;
}

interface TableSize {
  readonly rows: number;
  /** Rows in its files, which hold deleted ones too until the table is compacted; absent if unknown. */
  readonly stored?: number | undefined;
}

/** A temporary database on the embedded engine, in a folder of its own that is removed when it is closed. */
export interface Scratch {
  readonly folder: string;
  /** Supports what the embedded engine does, and also renames tables. */
  readonly target: Target;
  /**
   * Creates a table with generated rows, always the same; without rows if none can be generated. The values of `keys`
   * differ from row to row. Returns how many rows.
   */
  createSample(name: string, table: Table, rows: number, keys: ReadonlySet<string>): Promise<number>;
  /** The number and the checksum of the rows of a table. */
  rows(table: string): Promise<TableRows>;
}

interface TableRows {
  readonly count: number;
  /** A checksum of all values, independent of the order of rows; undefined if a type can't be read. */
  readonly sum: string | undefined;
}

/** The part of an address that the name of each database replaces. */
export const databaseSlot = "{database}";

/** What every target is opened with. */
export interface OpenContext {
  readonly name: string;
  /** The base of relative paths in the configuration. */
  readonly folder: string;
}
