/**
 * How to write a target:
 * 1. `options`: a strict zod object with its `kind`, so that the configuration's type follows from it.
 * 2. `open(options, context)`: may connect lazily; says ERR_TARGET_UNREACHABLE when it can't.
 * 3. `capabilities`: what it can do, and in words why it can't do the rest. The plan refuses by them.
 * 4. `execute`: each action as one atomic commit; never repeated by the target itself.
 * 5. `call`: the same in words, exactly, for plans.
 * 6. `ledger`: a small table of rows, or else tables whose names are the records.
 * 7. Add it to targets/index.ts and run the contract suite on it (test/contract).
 */
import type { Action, ActionKind, AddedColumn } from "../../actions/model/action.ts";
import type { Column } from "../../schema/data-type.ts";
import type { NewTables, TableFormat } from "../../schema/table-format.ts";
import type { Table } from "../../schema/table.ts";
import type { Draw } from "../../wire/rows/sample-values.ts";
import type { Row } from "../../wire/rows/ipc-rows.ts";

export interface Capabilities {
  /** True for what the target can do; in words why it can't, where there is more to say than that it has no call for it. */
  readonly actions: Readonly<Partial<Record<ActionKind, true | string>>>;
  /** In words why it can't do one that is of a kind that it can do; undefined when it can. */
  readonly refuses?: ((action: Action, before: Table | undefined) => string | undefined) | undefined;
  /** Whether `look` can tell a table's columns. Where it can't, it only tells whether there is such a table. */
  readonly describes: boolean;
  /**
   * Whether `execute` on a sight that is out of date is refused where that would undo a change of columns by others, and each
   * call has an answer. It is no proof that a late call did nothing: docs/engine.md.
   */
  readonly fences: boolean;
}

/** A table as it was seen. The one who looked acts on what he saw. */
export interface TableSnapshot {
  /** Without columns where the target can't describe. */
  readonly table: Table;
  /** The table's version, where the target tells it. */
  readonly version: number | undefined;
  /** When that version was made, where the target tells it with the look. The table was opened after that was read. */
  readonly at?: number | undefined;
  /** As `instance` of the target gives it, read before the table was opened. */
  readonly instance?: string | undefined;
}

/**
 * What the error of a call means.
 * - `refused`: nothing was done, and nothing will be when it is sent again.
 * - `conflict`: nothing was done; another came first, so that the same call may well work now.
 * - `throttled`: nothing was done; the target wants to be asked later.
 * - `unanswered`: nobody knows whether it was done.
 */
export interface CallOutcome {
  readonly kind: "refused" | "conflict" | "throttled" | "unanswered";
  /** Milliseconds for which the target asks to be left alone. */
  readonly pause?: number | undefined;
}

/** The version that was restored; or why none was: others have made `newer` versions, or there is none before the commit. */
export type UndoResult =
  | { readonly restored: number }
  | { readonly before: number | undefined; readonly newer: readonly number[] };

export interface Target {
  /** As the configuration calls it. */
  readonly name: string;
  /** Where it is, without anything secret: a folder, an address. */
  readonly place: string;
  readonly capabilities: Capabilities;
  /** The names of all tables. */
  listTables(): Promise<readonly string[]>;
  /** The table of that name as it is now, its indexes where they are asked for; undefined when there is none. */
  describeTable(table: string, withIndexes?: boolean): Promise<TableSnapshot | undefined>;
  /**
   * What tells a table from every other that had its name, also where old versions were cleaned up; for one run only, as a
   * copy of the database has others. Absent where the target can't tell, and undefined where it can't tell for this table.
   */
  readonly instance?: ((table: string) => Promise<string | undefined>) | undefined;
  /**
   * Carries out one action on what was seen, as one atomic commit, and gives the table's new version where the target
   * tells it. Throws whatever the target answers; who called finds out what happened.
   */
  execute(action: Action, seen: TableSnapshot | undefined): Promise<number | undefined>;
  /**
   * Undoes a commit that `execute` made on another table than the one that was seen, by restoring the version before it. Undefined
   * where it is not proven that the commit is that call's.
   */
  readonly undo?: ((action: Action, seen: TableSnapshot, made: number) => Promise<UndoResult | undefined>) | undefined;
  /** What `execute` calls for an action on a table as it is then: the request, or the engine's method with what it is given. */
  call(action: Action, before: Table | undefined): Promise<string>;
  verdict(error: unknown): CallOutcome;
  /** What the target threw, in one line without places in its source. */
  explain(error: unknown): string;
  readonly ledger: LedgerStore;
  /** Set where the target keeps old versions of tables and can restore them. */
  readonly versions?: Versions | undefined;
  /** How many rows of a table, or of one of its versions, there are for which an SQL predicate holds, or at all; where the target can be asked. */
  readonly count?: ((table: string, predicate?: string, version?: number) => Promise<number>) | undefined;
  /**
   * Whether a table that looks as it does after an action holds what a look does not show: rows, or values of columns, now or
   * when it came to look so. Undefined where that is unknown; absent where the target can't be asked.
   */
  readonly holds?: ((action: Action) => Promise<boolean | undefined>) | undefined;
  /** How many rows a table has; where the target can be asked quickly. */
  readonly size?: ((table: string) => Promise<TableSize>) | undefined;
  /**
   * The mean bytes of the values of SQL expressions, by a sample of a table of so many rows; where the target can be queried.
   * Undefined where there are no rows.
   */
  readonly widths?:
    | ((table: string, expressions: readonly string[], rows: number) => Promise<readonly number[] | undefined>)
    | undefined;
  /** How migrations make tables, where that is chosen. */
  readonly newTables?: NewTables | undefined;
  /** How the files of a table are written; where the target can tell, and undefined where it can't for this table. */
  readonly formatOf?: ((table: string) => TableFormat | undefined) | undefined;
  /** In words, columns at which looking at the table would fail; where the target can tell. */
  readonly unreadable?: ((table: string) => readonly string[]) | undefined;
  /** Puts copies of tables as they are now into a folder, as an embedded database, and changes nothing here; where the target can. */
  readonly copyTo?: ((folder: string, tables: readonly string[]) => Promise<void>) | undefined;
  /** Drops columns of a copy of a table, and changes nothing here: what goes wrong, undefined where it works; where the target can. */
  readonly tryDropping?: ((table: string, paths: readonly string[]) => Promise<string | undefined>) | undefined;
  /** Declares a computed column on an empty table with these columns, and changes nothing here: what goes wrong, undefined where it works; where the target can. */
  readonly tryComputing?: ((columns: readonly Column[], added: AddedColumn) => Promise<string | undefined>) | undefined;
  /** Drops a scratch table, where the target can. */
  readonly discard?: ((table: string) => Promise<void>) | undefined;
  close(): Promise<void>;
}

export interface TableSize {
  readonly rows: number;
}

/** A throw-away database on the embedded engine, in a folder of its own that is gone when it is closed. */
export interface Scratch {
  readonly folder: string;
  /** Does what the embedded engine does, and gives tables other names too. */
  readonly target: Target;
  /** Makes a table with made-up rows, always the same ones; without any where it can't hold them. Gives how many. */
  draw(name: string, table: Table, rows: number, draw: Draw): Promise<number>;
  /** What tells the rows of a table from others. */
  rows(table: string): Promise<TableRows>;
}

export interface TableRows {
  readonly count: number;
  /** Another text for other values, in whatever order they are read; undefined where there is a type that can't be read. */
  readonly sum: string | undefined;
}

/** Old versions of tables. */
export interface Versions {
  /** Keeps a version from being cleaned up, under a name that was never used for this table. */
  keep(table: string, version: number, name: string): Promise<void>;
  /** Lets it go; nothing where there is none of that name. */
  letGo(table: string, name: string): Promise<void>;
  /** What is kept of a table. */
  kept(table: string): Promise<readonly KeptVersion[]>;
  /** What a version is like, and whether it was restored after another one. Throws where it is gone. */
  look(table: string, version: number, after: number): Promise<OldVersion>;
  /** Those of a table that there are still, in their order. */
  list(table: string): Promise<readonly TableVersion[]>;
  /** When a version was made, in milliseconds since 1970; undefined where it is gone, or the table is. What tells a table from another of its name: see schema/identity.ts. */
  time(table: string, version: number): Promise<number | undefined>;
  /** A table as it was at a version, its indexes where they are asked for, or told anyway. Throws where that is gone. */
  at(table: string, version: number, withIndexes?: boolean): Promise<Table>;
  /** What was written after a version. Undefined where that cannot be determined. Throws where the version is gone. */
  since(table: string, version: number, scope?: SinceScope): Promise<Since | undefined>;
}

export interface TableVersion {
  readonly version: number;
  /** Milliseconds since 1970 by the clock of who made it, where the target tells. */
  readonly at?: number | undefined;
}

export interface OldVersion {
  readonly columns: readonly Column[];
  /** The version that it became when it was restored after the other one; undefined where it was not. */
  readonly restored: number | undefined;
}

export interface KeptVersion {
  readonly name: string;
  readonly version: number;
}

export interface Since {
  readonly added: number;
  /** Where rows are compared by value, one that was changed counts as removed and added. */
  readonly changed: number;
  readonly removed: number;
}

export interface SinceScope {
  /** The newer version that is compared; the newest when absent. */
  readonly until?: number | undefined;
  /** The version from which on the table's columns should be as they are; `version` when absent. */
  readonly from?: number | undefined;
  /** Whether the newer version may have columns that the older one had not: they are left out of the comparison. */
  readonly mayHaveMore?: boolean | undefined;
}

/** Where a ledger can be kept. */
export type LedgerStore =
  /** In a small table. */
  | { readonly kind: "rows"; readonly records: (shape: RecordShape) => RecordTable }
  /** In the names of tables, where rows can be written with a new table and never be read. */
  | { readonly kind: "markers"; readonly create: CreateMarker };

/** Creates a table with one row; false when there is one of that name. Of n racing creators exactly one is told true. */
export type CreateMarker = (name: string, columns: readonly Column[], row: Row) => Promise<boolean>;

export interface RecordShape {
  /** The table's name. */
  readonly name: string;
  readonly columns: readonly Column[];
  /** The column whose values are unique. */
  readonly key: string;
}

/** A small table that only grows. Reads see what every other process has written. */
export interface RecordTable {
  /** Makes the table, unless it exists, so that of n racing creators all use the same one. */
  create(): Promise<void>;
  /** These columns of every row, in any order; undefined while there is no table. */
  all(columns: readonly string[]): Promise<readonly Row[] | undefined>;
  /** Some columns of the row that is last when ordered by others; undefined without table or rows. Quick however many rows there are. */
  last(order: readonly string[], columns: readonly string[]): Promise<Row | undefined>;
  /** How many rows there are for which an SQL predicate holds; 0 while there is no table. */
  count(predicate: string): Promise<number>;
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
