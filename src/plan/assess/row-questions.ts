/** How rows that may block a rollback are asked about, on the tables as they are before it. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { castVerdict } from "../../schema/cast-rules.ts";
import type { DataType } from "../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { columnPaths, findColumn, replaceColumn, type Database } from "../../schema/table.ts";
import type { Blocker } from "../../actions/model/inverse.ts";
import { arrowName } from "../../wire/arrow/arrow-cast.ts";
import { follow, restOf } from "../compile/track-column.ts";

export type RowsObstacle = Exclude<Blocker, { kind: "since" }>;

export interface Ask {
  readonly table: string;
  /** As it is called there; none where all rows are counted. */
  readonly column?: string | undefined;
  /** SQL; every row when absent. */
  readonly predicate: string | undefined;
  /** The version that is restored by then; undefined where the table is as it is now. */
  readonly version?: number | undefined;
  /** Rows that came since are put back on it. */
  readonly putsBack?: boolean | undefined;
}

/** As `askOf`; of a table that is restored by then it is asked in that version. */
export function askAfter(obstacle: RowsObstacle, before: readonly Action[], now: Database): Ask | undefined {
  const leads = (table: string, actions: readonly Action[]) =>
    follow({ table, path: [], casts: [] }, actions)?.table === obstacle.table;
  const at = before.findLastIndex(
    (action, index) => action.kind === "restoreTable" && leads(action.table, before.slice(index + 1)),
  );
  const restoring = before[at];
  if (restoring?.kind !== "restoreTable") return askOf(obstacle, before, now);
  const { table, version, as } = restoring;
  const after = before.slice(at + 1);
  const ask = askOf(obstacle, after, new Map([[table, as]]));
  const live = askOf({ kind: "rows", table, own: 0 }, before.slice(0, at), now)?.table;
  const putsBack = after.some(
    (action) => action.kind === "putBackRows" && action.columns !== undefined && action.table === table,
  );
  return ask === undefined || live === undefined ? undefined : { ...ask, table: live, version, putsBack };
}

/** `before`: the actions between the tables as they are and what the obstacle is about. Undefined where nobody can ask. */
export function askOf(obstacle: RowsObstacle, before: readonly Action[], now: Database): Ask | undefined {
  if (obstacle.kind === "rows") {
    const table = [...now.keys()].find(
      (name) => follow({ table: name, path: [], casts: [] }, before)?.table === obstacle.table,
    );
    return table === undefined ? undefined : { table, predicate: undefined };
  }
  const wanted = parsePath(obstacle.path);
  for (const [table, { columns }] of now)
    for (const path of columnPaths(columns)) {
      const there = follow({ table, path, casts: [] }, before);
      if (there?.table !== obstacle.table) continue;
      const inside = restOf(wanted, there.path);
      const { type } = findColumn(columns, path)!;
      if (inside === undefined || (inside.length > 0 && type.kind === "struct")) continue;
      const predicate = predicateOf(obstacle, named(path), there.casts.at(-1) ?? type, inside, there.casts);
      if (predicate === undefined) return undefined;
      return { table, column: formatPath([...path, ...inside]), predicate: readingWhole(path, predicate) };
    }
  return undefined;
}

/**
 * The same, but the engine reads the whole struct around a field. It fails where it reads of a struct only fields that rows lack
 * in their files (docs/engine.md).
 */
function readingWhole(path: Path, predicate: string): string {
  if (path.length === 1) return predicate;
  const whole = named(path.slice(0, 1));
  return `${predicate} AND (${whole} IS NULL OR ${whole} IS NOT NULL)`;
}

/** `type`: what the column is by then. `inside`: where in it the obstacle is, should it be a list. */
function predicateOf(
  obstacle: Exclude<RowsObstacle, { kind: "rows" }>,
  sql: string,
  type: DataType,
  inside: Path,
  casts: readonly DataType[],
): string | undefined {
  switch (obstacle.kind) {
    case "null":
      // The engine looks into lists itself.
      return inside.length > 0 ? undefined : `${sql} IS NULL`;
    case "vectors":
      return inside.length > 0 ? undefined : `${sql} IS NOT NULL`;
    case "values":
    case "filled":
      return `${sql} IS NOT NULL`;
    case "misfit":
      return inside.length > 0 ? undefined : misfitOf(sql, type, casts, obstacle.to);
    case "cast": {
      const column = { name: "", type, nullable: true };
      const [was] = replaceColumn([column], ["", ...inside], (one) => ({ ...one, type: obstacle.to }));
      const is = castTo(sql, casts);
      const back = castTo(is, [was!.type, type]);
      return `${sql} IS NOT NULL AND (${back} IS NULL OR ${back} <> ${is})`;
    }
  }
}

/** Values that the engine's own cast refuses; undefined where only the cast of all rows together tells. */
function misfitOf(sql: string, from: DataType, casts: readonly DataType[], to: DataType): string | undefined {
  // Whether a dictionary has room for all values is no question of one of them.
  if (to.kind === "dictionary") return undefined;
  // Of a day too far off the engine's cast makes another time, where this one makes null.
  if ((from.kind === "date32" || from.kind === "date64") && to.kind === "timestamp") return undefined;
  const is = castTo(sql, casts);
  const cast = castTo(is, [to]);
  if (!("item" in from)) return `${is} IS NOT NULL AND ${cast} IS NULL`;
  // Of a list the items become null one by one, so it has to be compared.
  const verdict = castVerdict(from, to);
  return verdict.allowed && verdict.mayLose
    ? undefined
    : `${is} IS NOT NULL AND (${cast} IS NULL OR ${castTo(cast, [from])} <> ${is})`;
}

/** Null where a value does not fit. */
export function castTo(sql: string, types: readonly DataType[]): string {
  return types.reduce((inner, type) => `arrow_try_cast(${inner}, '${arrowName(type).replaceAll("'", "''")}')`, sql);
}

export function named(path: Path): string {
  return path.map((name) => `\`${name.replaceAll("`", "``")}\``).join(".");
}
