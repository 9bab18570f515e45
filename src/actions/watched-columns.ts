/**
 * Watched columns: those that have taken the place of another one, until that is dropped. Applications may have written
 * rows with the model of the old column meanwhile, so rows without a right value are looked for again and again. Pure.
 */
import { refAfter } from "./apply-action.ts";
import type { Action, CatchUpColumnAction } from "./model/action.ts";
import { formatPath, parsePath } from "../schema/path.ts";

/**
 * `keep`: the name of the old column. `lost`: the key, or a column that values are computed from, that was renamed or
 * dropped. Another column may have its name now.
 */
export type WatchedColumn = CatchUpColumnAction & { readonly keep: string; readonly lost?: string | undefined };

/** The watched columns after these actions, by their present names. */
export function watchedColumns(actions: readonly Action[]): readonly WatchedColumn[] {
  return actions.reduce<readonly WatchedColumn[]>((watched, action) => {
    const left = watched.flatMap((column) => columnAfter(column, action));
    return action.kind === "catchUpColumn" && action.keep !== undefined
      ? [...left, { ...action, keep: action.keep }]
      : left;
  }, []);
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
