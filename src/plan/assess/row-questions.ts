/** Builds the queries for rows that may block an action, on the tables as they are before it. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { formatPath, parsePath, restOf, type Path } from "../../schema/path.ts";
import { sqlPath } from "../../schema/sql.ts";
import { columnPaths, findColumn, type Database } from "../../schema/table.ts";
import type { Blocker } from "../../actions/model/inverse.ts";
import { kindOf } from "../rollback/blocker-kinds.ts";
import { follow, followValues, tableBefore } from "../../actions/follow.ts";

export type RowsObstacle = Exclude<Blocker, { kind: "since" }>;

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
export function askAfter(obstacle: RowsObstacle, before: readonly Action[], now: Database): Ask | undefined {
  const at = before.findLastIndex(
    ({ kind, table }, index) =>
      kind === "restoreTable" && follow({ table, path: [] }, before.slice(index + 1))?.table === obstacle.table,
  );
  const restoring = before[at];
  if (restoring?.kind !== "restoreTable") return askOf(obstacle, before, now);
  const { table, version, as } = restoring;
  const after = before.slice(at + 1);
  const ask = askOf(obstacle, after, new Map([[table, as]]));
  const live = tableBefore(table, before.slice(0, at), now);
  const reinserts = after.some(
    (action) => action.kind === "putBackRows" && action.columns !== undefined && action.table === table,
  );
  return ask === undefined || live === undefined ? undefined : { ...ask, table: live, version, reinserts };
}

/**
 * `before`: the actions between the current tables and the point that the obstacle is about. Undefined if there is no
 * query.
 */
export function askOf(obstacle: RowsObstacle, before: readonly Action[], now: Database): Ask | undefined {
  if (obstacle.kind === "rows") {
    const table = tableBefore(obstacle.table, before, now);
    return table === undefined ? undefined : { table, predicate: undefined };
  }
  const wanted = parsePath(obstacle.path);
  for (const [table, { columns }] of now)
    for (const path of columnPaths(columns)) {
      const there = followValues({ table, path }, before, obstacle.kind === "null");
      if (there?.table !== obstacle.table) continue;
      const inside = restOf(wanted, there.path);
      const { type } = findColumn(columns, path)!;
      if (inside === undefined || (inside.length > 0 && type.kind === "struct")) continue;
      const predicate = kindOf(obstacle).predicate?.(obstacle, {
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
