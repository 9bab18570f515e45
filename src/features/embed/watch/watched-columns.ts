/**
 * Watched columns: those that have taken the place of another one, until that is dropped; and those that a rollback has put
 * back. Applications may have written rows with the other model meanwhile, so rows without a right value are looked for
 * again and again. Pure.
 */
import { refAfter } from "../../../actions/apply-action.ts";
import type { Action } from "../../../actions/model/action.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import type { WatchedColumn } from "../../../run/stale-text.ts";

/** The watched columns after these actions, by their present names. */
export function watchedColumns(actions: readonly Action[]): readonly WatchedColumn[] {
  return actions.reduce<readonly WatchedColumn[]>((watched, action) => {
    const left = watched.flatMap((column) => columnAfter(column, action));
    return action.kind === "catchUpColumn" ? [...left, { ...action, isLater: true }] : left;
  }, []);
}

/**
 * The columns that a rollback of these actions has put back and that it can compute. Of several switches of one column, the
 * first one was rolled back last.
 */
export function columnsPutBack(actions: readonly Action[], upTo: string): readonly WatchedColumn[] {
  const seen = new Set<string>();
  return actions.flatMap((action) => {
    if (action.kind !== "switchColumn") return [];
    const { table, path, down } = action;
    const place = JSON.stringify([table, path]);
    if (seen.has(place)) return [];
    seen.add(place);
    const own = parsePath(path)[0]!;
    const how = { kind: "catchUpColumn", table, path, was: own, keep: own, isLater: true, upTo } as const;
    return down === undefined ? [] : [{ ...down, ...how }];
  });
}

/** None if one of the two columns is gone, or if another column has taken the place. */
function columnAfter(column: WatchedColumn, action: Action): readonly WatchedColumn[] {
  const { table, path, keep } = column;
  if (action.kind === "switchColumn" && action.table === table && action.path === path) return [];
  const own = refAfter({ table, path: parsePath(path) }, action);
  const old = refAfter({ table, path: [keep] }, action);
  if (own === undefined || old === undefined) return [];
  const isKept = (name: string) => refAfter({ table, path: [name] }, action)?.path[0] === name;
  const lost = column.lost ?? [column.key, ...column.from].find((name) => !isKept(name));
  return [{ ...column, table: own.table, path: formatPath(own.path), keep: old.path[0]!, lost }];
}
