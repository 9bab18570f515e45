/** The interface of an action kind: its effect on tables, its commits, its inverse, its risks and its texts. */
import type { Action, ActionKind, ActionOf } from "./action.ts";
import type { Computation } from "./computation.ts";
import type { Column } from "../../schema/data-type.ts";
import type { Path } from "../../schema/path.ts";
import type { Risk } from "./risk.ts";
import type { Database, Table } from "../../schema/table.ts";
import type { Inverse } from "./inverse.ts";

/** One atomic commit of an action that takes several. */
export interface Commit {
  readonly action: Action;
  /** Undoes the commits before it if the target refuses this one; absent if there is nothing to undo, or no way to. */
  readonly undo?: readonly Action[];
  /** Must run before this commit if others have written to the table since the new values were computed. */
  readonly refresh?: Action | undefined;
  /** Whether this commit drops the indexes and the metadata of the rewritten columns. */
  readonly loses?: boolean | undefined;
  /** Commits with the same result that succeed even while others append without pause. */
  readonly detour?: readonly Commit[] | undefined;
}

/** The data that a commit writes; undefined for a commit of metadata only. */
export type WrittenData =
  /** Values of these columns, in every row or in those for which an SQL predicate holds. */
  | { readonly columns: readonly Column[]; readonly where?: string | undefined }
  /** The number of new rows; undefined if it is unknown. */
  | { readonly rows: number | undefined }
  /** The index of this name. */
  | { readonly index: string };

/** Values that an action gives to a column, in every row or in some. */
export interface GivenValues {
  readonly path: Path;
  /** SQL over the columns before the action; undefined for a computed column, which has its own. */
  readonly sql: string | undefined;
}

/** The values of a column that code of the project computes, in rows that have none of their present sources. */
export interface ComputedValues {
  /** The name of the column. */
  readonly column: string;
  readonly how: Computation;
  /** The name of the column of marks, which shows which rows are done (rewrite/source-marks.ts). */
  readonly mark: string;
  /** An SQL predicate for the rows that are not done, if the table has marks. */
  readonly pending: string;
  /** Whether rows with a value that it has not computed are computed too. */
  readonly overwrite: boolean;
  /** An SQL predicate for those of them that are not done yet, if the table has no marks; all of them when absent. */
  readonly lacking?: string | undefined;
}

/** A column or a field of a table; with an empty path, the table itself. */
export interface ColumnRef {
  readonly table: string;
  readonly path: Path;
}

export interface ActionModel<Own extends ActionOf<string>> {
  readonly kind: Own["kind"];
  /**
   * Its table after it, by nothing but the table before it. Throws a MigrateError if the engine would refuse the action,
   * or would accept it and break the table.
   */
  readonly after: (before: Table, action: Own) => Table;
  /** Throws a MigrateError if it reads another table that is not there, or not as it must be. */
  readonly checkReads?: (database: Database, action: Own) => void;
  /** Whether it creates its table, so that there is none before it. */
  readonly creates?: true;
  /** What its table is called after it; undefined if the table is gone. The same when absent. */
  readonly nameAfter?: (action: Own) => string | undefined;
  /**
   * The path of a column of its table after it; undefined if the column is gone. The same when absent. Throws
   * ERR_PATH_INVALID.
   */
  readonly pathAfter?: (path: Path, action: Own) => Path | undefined;
  /** The action as text. */
  readonly describe: (action: Own) => string;
  /** Its risks on the table `before`. `able`: the kinds of calls that the target supports. */
  readonly risks?: (action: Own, before: Table, able: (kind: ActionKind) => boolean) => readonly Risk[];
  /**
   * The commits that it takes; the action itself when absent. `before` must contain every index and metadata key that
   * the commits would lose. `able`: the kinds of calls that the target supports.
   */
  readonly commits?: (action: Own, before: Table, able: (kind: ActionKind) => boolean) => readonly Commit[];
  /** The columns that it rewrites, so that the engine drops their indexes or metadata; none when absent. */
  readonly rewrites?: (action: Own) => ReadonlySet<string>;
  /** The data that it writes if it is one commit; none when absent. */
  readonly writes?: (action: Own, before: Table) => WrittenData | undefined;
  /** The values that it gives to columns, null included; none when absent. */
  readonly gives?: (action: Own) => readonly GivenValues[];
  /** How code of the project computes rows of its table; it computes none when absent. */
  readonly populates?: (action: Own) => Computation;
  /** What code of the project computes if it is one commit; nothing when absent. */
  readonly computes?: (action: Own) => ComputedValues;
  /** Its inverse. `before`: its table before it. */
  readonly invert: (action: Own, before: Table) => Inverse;
  /** The kinds of calls that a target must support for it; its own kind when absent. */
  readonly needs?: readonly ActionKind[] | ((action: Own) => readonly ActionKind[]);
  /**
   * Whether it changes rows, or only how they are stored and indexed, and not the schema: no snapshot shows whether it
   * has run. Repeating it does no harm.
   */
  readonly changesRows?: true | ((action: Own) => boolean);
  /** Whether it only reads, and fails if a condition does not hold. */
  readonly onlyReads?: true;
}
