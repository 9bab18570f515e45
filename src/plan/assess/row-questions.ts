/** Builds the queries for rows that may block an action, on the tables as they are before it. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { formatPath, parsePath, restOf, type Path } from "../../schema/path.ts";
import { sqlPath } from "../../schema/sql.ts";
import { columnPaths, findColumn, type Database } from "../../schema/table.ts";
import type { Blocker } from "../../actions/model/inverse.ts";
import { kindOf } from "../rollback/blocker-kinds.ts";
import { follow, followValues, tableBefore } from "../../actions/follow.ts";

export type RowsBlocker = Exclude<Blocker, { kind: "since" }>;

export interface Ask {
  readonly table: string;
  /** Its name in the queried table or version; absent if all rows are counted. */
  readonly column?: string | undefined;
  /** SQL; undefined for every row. */
  readonly predicate: string | undefined;
  /** The version that the rollback has restored at that point; undefined if the current table is queried. */
  readonly version?: number | undefined;
  /** Whether rows written since are reinserted into that version. */
  readonly reinserts?: boolean | undefined;
}

/** Like `askOf`. If an earlier action restores the table, the query is for the restored version. */
export function askAfter(blocker: RowsBlocker, before: readonly Action[], now: Database): Ask | undefined {
  const at = before.findLastIndex(
    ({ kind, table }, index) =>
      kind === "restoreTable" && follow({ table, path: [] }, before.slice(index + 1))?.table === blocker.table,
  );
  const restoring = before[at];
  if (restoring?.kind !== "restoreTable") return askOf(blocker, before, now);
  const { table, version, as } = restoring;
  const after = before.slice(at + 1);
  const ask = askOf(blocker, after, new Map([[table, as]]));
  const live = tableBefore(table, before.slice(0, at), now);
  const reinserts = after.some(
    (action) => action.kind === "putBackRows" && action.columns !== undefined && action.table === table,
  );
  return ask === undefined || live === undefined ? undefined : { ...ask, table: live, version, reinserts };
}

/**
 * `before`: the actions between the current tables and the point that the blocker is about. Undefined if there is no
 * query.
 */
export function askOf(blocker: RowsBlocker, before: readonly Action[], now: Database): Ask | undefined {
  if (blocker.kind === "rows") {
    const table = tableBefore(blocker.table, before, now);
    return table === undefined ? undefined : { table, predicate: undefined };
  }
  const wanted = parsePath(blocker.path);
  for (const [table, { columns }] of now)
    for (const path of columnPaths(columns)) {
      const there = followValues({ table, path }, before, blocker.kind === "null");
      if (there?.table !== blocker.table) continue;
      const inside = restOf(wanted, there.path);
      const { type } = findColumn(columns, path)!;
      if (inside === undefined || (inside.length > 0 && type.kind === "struct")) continue;
      const predicate = kindOf(blocker).predicate?.(blocker, {
        sql: sqlPath(path),
        type: there.casts.at(-1) ?? type,
        inside,
        casts: there.casts,
      });
      if (predicate === undefined) return undefined;
      return { table, column: formatPath([...path, ...inside]), predicate: readingWhole(path, predicate) };
    }
  return undefined;
}

/**
 * Extends the predicate so that the engine reads the whole struct around a field. The engine fails if a query reads
 * only fields of a struct that a data file lacks (docs/internals/engine.md).
 */
function readingWhole(path: Path, predicate: string): string {
  if (path.length === 1) return predicate;
  const whole = sqlPath(path.slice(0, 1));
  return `${predicate} AND (${whole} IS NULL OR ${whole} IS NOT NULL)`;
}
