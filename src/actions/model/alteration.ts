import type { DataType } from "../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";

/** One entry of an `alter_columns` call. At least one of the three changes is present. */
export interface Alteration {
  readonly path: string;
  readonly rename?: string | undefined;
  readonly type?: DataType | undefined;
  readonly nullable?: boolean | undefined;
}

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
