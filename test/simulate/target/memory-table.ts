/** What tables in memory are. */
import type { Action, ActionFor } from "../../../src/actions/model/action.ts";
import type { Column } from "../../../src/schema/data-type.ts";
import type { Table } from "../../../src/schema/table.ts";
import type { FoundIndex } from "../../../src/schema/table-index.ts";
import type { Row } from "../../../src/wire/rows/ipc-rows.ts";
import type { Effects } from "./effect-log.ts";
import type { KeptVersion, Since } from "../../../src/targets/contract/versions.ts";

export interface MemoryTable extends Table {
  readonly indexes: Readonly<Record<string, FoundIndex>>;
  /** Counted from 1. */
  readonly version: number;
  readonly effects: Effects;
  readonly rows: readonly Row[];
  /** Differs between tables that had the same name one after another. */
  readonly born: number;
  readonly commit: Commit;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The version before; undefined for the first one. */
  readonly previous: MemoryTable | undefined;
  /** Which version was restored by this one. */
  readonly restored?: number | undefined;
  /** Whether the files are there that its newest version names. */
  readonly isReadable: boolean;
  /** Whether a call on a handle of another table of its name has changed it. */
  readonly isMixed?: boolean | undefined;
}

export interface MemoryTables {
  /** Those that there were so many milliseconds ago; now when absent. */
  names(age?: number): readonly string[];
  get(name: string): MemoryTable | undefined;
  /** False when there is one of that name. */
  create(name: string, columns: readonly Column[], rows?: readonly Row[], metadata?: Table["metadata"]): boolean;
  /**
   * Throws what the engine would refuse. What is so already is no effect: the effects then stay the same object. `seen`: what the
   * handle saw that it is called on; the newest version when absent.
   */
  carryOut(action: Action, seen?: MemoryTable): void;
  append(name: string, rows: readonly Row[]): void;
  /** What an application commits: other rows, other metadata of columns, or just other files. */
  write(name: string, commit: Commit, changes?: Partial<Pick<MemoryTable, "rows" | "columns">>): void;
  /** Drops a table and creates it again as it is, with these rows in its first version. */
  recreate(name: string, rows: readonly Row[]): void;
  drop(name: string): void;
  /** Removes old versions, but for those that are kept. */
  cleanUp(name: string): void;
  readonly versions: MemoryVersions;
  /** The same tables, that change on their own from here. */
  copy(): MemoryTables;
}

/** What a version was made by, as far as that decides which calls from before it are still accepted. */
export type Commit =
  | "create"
  | "append"
  | "update"
  | "delete"
  | "compact"
  | "index"
  | "metadata"
  /** A new schema over the same files: names, nullability, dropped columns. */
  | "project"
  /** New files: another type, new columns. */
  | "merge"
  | "restore";

export interface MemoryVersions {
  /** The versions that are left, the oldest first. */
  list(name: string): readonly MemoryTable[];
  /** Throws where it is gone. */
  at(name: string, version: number): MemoryTable;
  since(name: string, version: number, until?: number): Since;
  restoredAs(name: string, version: number, after: number): number | undefined;
  keep(name: string, version: number, as: string): void;
  release(name: string, as: string): void;
  kept(name: string): readonly KeptVersion[];
  cleanUp(name: string): void;
  restore(action: ActionFor<"restoreTable">): void;
  /** Restores the version before the newest, and gives it; undefined where there is none. */
  undoNewest(name: string): number | undefined;
  putBack(action: ActionFor<"putBackRows">, write: (rows: readonly Row[]) => void): void;
}
