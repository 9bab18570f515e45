/** Converts paths of columns between before and after a call that renames some of them. */
import type { Alteration } from "../model/alteration.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";

/** The new names of renamed columns, by their paths before the call. */
export function newNames(alterations: readonly Alteration[]): Map<string, string> {
  return new Map(
    alterations.flatMap(({ path, rename }) => (rename === undefined ? [] : [[formatPath(parsePath(path)), rename]])),
  );
}

/** The path of a column after the renames. */
export function currentPath(path: Path, names: ReadonlyMap<string, string>): Path {
  return path.map((name, index) => names.get(formatPath(path.slice(0, index + 1))) ?? name);
}

/** The path of a column before the renames. */
export function formerPath(path: Path, names: ReadonlyMap<string, string>): Path {
  return path.reduce<Path>((around, name) => {
    const was = [...names].find(
      ([before, after]) => after === name && formatPath(parsePath(before).slice(0, -1)) === formatPath(around),
    );
    return [...around, was === undefined ? name : parsePath(was[0]).at(-1)!];
  }, []);
}
