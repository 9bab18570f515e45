/**
 * Works around a bug of the engine (0.39). A call that retypes only some fields of a struct succeeds, but from then on
 * scans with a filter, updates and the next retype of that struct fail. Retyping all fields in one call works, so the
 * other fields are cast to their own types.
 */
import type { Alteration } from "../model/alteration.ts";
import { castVerdict } from "../../schema/cast-rules.ts";
import type { Column } from "../../schema/data-type.ts";
import { formatPath, isWithin, parsePath } from "../../schema/path.ts";
import { leavesOf } from "../../schema/table.ts";

/** The alterations of one call, plus a cast of every other field of a struct with a retyped field to its own type. */
export function withWholeStructs(
  columns: readonly Column[],
  alterations: readonly Alteration[],
): readonly Alteration[] {
  const byPath = new Map(alterations.map((alteration) => [formatPath(parsePath(alteration.path)), alteration]));
  const retyped = alterations.filter(({ type }) => type !== undefined).map(({ path }) => parsePath(path));
  for (const name of new Set(retyped.filter(({ length }) => length > 1).map(([first]) => first))) {
    const column = columns.find((candidate) => candidate.name === name);
    for (const { path, type } of column === undefined ? [] : leavesOf(column)) {
      const key = formatPath(path);
      // A list whose item is retyped by its own path needs no cast of its own.
      if (retyped.some((other) => isWithin(other, path))) continue;
      if (byPath.get(key)?.type !== undefined || !castVerdict(type, type).allowed) continue;
      byPath.set(key, { ...byPath.get(key), path: key, type });
    }
  }
  return [...byPath.values()];
}
