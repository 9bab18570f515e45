/** What an action kind is: what it does to the model, and its words. */
import type { Action, ActionKind, ActionOf } from "./action.ts";
import type { Column } from "../../schema/data-type.ts";
import type { Risk } from "./risk.ts";
import type { Database, Table, Tables } from "../../schema/table.ts";
import type { Inverse } from "./inverse.ts";

/** One atomic commit of an action that takes several. */
export interface Commit {
  readonly action: Action;
  /** What takes back the commits before it, should the target refuse this one. */
  readonly undo: readonly Action[];
  /** What has to be done once more before it where others have written to the table since the commit before. */
  readonly refresh?: Action | undefined;
  /** The indexes and the metadata of the columns that are rewritten go with it. */
  readonly loses?: boolean | undefined;
  /** Commits with the same end that come through also where others append without pause. */
  readonly detour?: readonly Commit[] | undefined;
}

/** The data that a commit writes; without any it is of metadata only. */
export type WrittenData =
  /** Values of these columns, in every row or in those for which an SQL predicate holds. */
  | { readonly columns: readonly Column[]; readonly where?: string | undefined }
  /** So many new rows; undefined where nobody knows. */
  | { readonly rows: number | undefined }
  /** The index of this name. */
  | { readonly index: string };

export interface ActionModel<Own extends ActionOf<string>> {
  readonly kind: Own["kind"];
  /**
   * The tables that it changes, as they are after it. Throws what the engine would refuse, and what it would accept and
   * break on.
   */
  readonly after: (database: Database, action: Own) => Tables;
  /** The action in words. */
  readonly describe: (action: Own) => string;
  /** What people should know before it runs on that table. */
  readonly risks?: (action: Own, before: Table, able: (kind: ActionKind) => boolean) => readonly Risk[];
  /** All tables that it touches; its own when absent. */
  readonly tables?: (action: Own) => readonly string[];
  /**
   * The commits that it takes on a table of which all is known that they would lose: itself when absent. `able`: what the
   * target can do.
   */
  readonly commits?: (action: Own, before: Table, able: (kind: ActionKind) => boolean) => readonly Commit[];
  /** The columns of the table that are rewritten, so that the engine drops their indexes or metadata; none when absent. */
  readonly rewrites?: (action: Own) => ReadonlySet<string>;
  /** The data that it writes, where it is one commit; none when absent. */
  readonly writes?: (action: Own, before: Table) => WrittenData | undefined;
  /** How it is taken back. `before`: the tables as they were. */
  readonly invert: (action: Own, before: Database) => Inverse;
  /** The calls that a target has to have for it, where it is not one by itself. */
  readonly needs?: readonly ActionKind[];
  /** It changes rows and no schema, so no look tells whether it has run. Running it once more makes nothing worse. */
  readonly changesRows?: true | ((action: Own) => boolean);
}
