/** Tracks columns and tables through actions. Pure. */
import type { Action } from "../../actions/model/action.ts";
import type { DataType } from "../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { followPath } from "./undescribed.ts";

/** A column and the types that it was cast to, in order. */
export interface Followed {
  readonly table: string;
  readonly path: Path;
  readonly casts: readonly DataType[];
}

/** Where a column is after these actions; undefined if it no longer exists, or has other values. */
export function follow(from: Followed, actions: readonly Action[]): Followed | undefined {
  let at: Followed | undefined = from;
  for (const action of actions) {
    if (at === undefined) return undefined;
    at = action.table === at.table ? followOne(at, action) : at;
  }
  return at;
}

/** Where a table or column is after an action; undefined if it no longer exists. The path of a table is empty. */
export function placeAfter<At extends Pick<Followed, "table" | "path">>(at: At, action: Action): At | undefined {
  if (action.table !== at.table) return at;
  switch (action.kind) {
    case "renameTable":
      return { ...at, table: action.name };
    case "dropTable":
      return undefined;
    case "dropColumns":
      return action.paths.some((one) => restOf(at.path, parsePath(one)) !== undefined) ? undefined : at;
    case "alterColumns":
      return { ...at, path: followPath(at.path, [action]) };
    default:
      return at;
  }
}

function followOne(at: Followed, action: Action): Followed | undefined {
  const { path, casts } = at;
  switch (action.kind) {
    case "convertColumn":
      return parsePath(action.path)[0] === path[0] ? undefined : at;
    case "alterColumns": {
      const types = action.alterations.filter(({ type }) => type !== undefined);
      const own = types.find((one) => formatPath(parsePath(one.path)) === formatPath(path));
      // A cast of a column around it, or of the items of a list in it, changes its values.
      const isOther = types.some(
        (one) => one !== own && (restOf(path, parsePath(one.path)) ?? restOf(parsePath(one.path), path)) !== undefined,
      );
      if (isOther && path.length > 0) return undefined;
      return placeAfter({ ...at, casts: own === undefined ? casts : [...casts, own.type!] }, action);
    }
    default:
      return placeAfter(at, action);
  }
}

/** The rest of a path after `start`; undefined if the path does not begin with `start`. */
export function restOf(path: Path, start: Path): Path | undefined {
  return start.every((name, index) => path[index] === name) ? path.slice(start.length) : undefined;
}
