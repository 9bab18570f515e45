/** Which columns the alterations of a late call may have reached. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { refAfter } from "../../actions/apply-action.ts";
import type { Alteration } from "../../actions/model/alteration.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";

/**
 * The alterations of a column since the late call. That call may come from a run that repaired the effect of another
 * late call, and it then set what held at that time.
 */
export function alterationsSince(now: string, since: readonly Action[]): readonly Alteration[] {
  return since.flatMap((action, index) => {
    const alterations = action.kind === "alterColumns" ? action.alterations : [];
    return alterations.filter(({ path }) => possiblePaths(path, since.slice(index)).includes(now));
  });
}

/** Where columns are now that a late call may have reached: those with the name before or after any of the actions. */
export function possiblePaths(path: string, since: readonly Action[]): readonly string[] {
  const named = formatPath(parsePath(path));
  const places = since.reduce(
    (before, action) =>
      new Set([named, ...[...before].map((place) => formatPath(pathAfter(parsePath(place), action)))]),
    new Set([named]),
  );
  return [...places];
}

/** The path of a column of the action's table after it; the same if the action drops the column. */
export function pathAfter(path: Path, action: Action): Path {
  return refAfter({ table: action.table, path }, action)?.path ?? path;
}
