/**
 * Marks: while code computes the values of a column, a second column holds for each row a hash of what its value was
 * computed from. So SQL finds the rows whose value is missing or outdated, and a value is only written to a row whose
 * sources are still those that it was computed from.
 */
import type { AddedColumn, FillColumnAction } from "../model/action.ts";
import { sqlPath, sqlText } from "../../schema/sql.ts";

/** The name of the second column, unless an action states another. */
export const markName = "_lance_migrate_source";

export function markColumn(name = markName): AddedColumn {
  return { name, type: { kind: "utf8" }, nullable: true };
}

type Marked = Pick<FillColumnAction, "version" | "from" | "mark" | "overwrite">;

/** Begins the mark of a row whose value could not be computed. */
export const failedMark = "!";
/** Begins the mark of a row whose value was computed and is null. */
export const nullMark = "-";

/** An SQL predicate for the rows whose value could not be computed. */
export function hasFailed(action: Pick<Marked, "mark">): string {
  return `starts_with(${markPath(action)}, '${failedMark}')`;
}

/** SQL for the mark of a row whose value is up to date. Null and an empty text differ. */
export function markSql({ version, from }: Pick<Marked, "version" | "from">): string {
  const sources = from.map((column) => `coalesce(cast(${sqlPath([column])} as string), chr(0))`);
  return `md5(concat_ws(chr(31), ${[sqlText(version), ...sources].join(", ")}))`;
}

/** An SQL predicate for the rows whose value is missing or outdated; with `overwrite`, or not computed by this action. */
export function isPending(action: Marked, column: string): string {
  const mark = markPath(action);
  const known = `starts_with(${mark}, '${failedMark}') or starts_with(${mark}, '${nullMark}')`;
  // An application may have removed a value that was computed.
  const isMissing = `${sqlPath([column])} is null and (${mark} is null or not (${known}))`;
  const isOutdated = `replace(replace(${mark}, '${failedMark}', ''), '${nullMark}', '') <> ${markSql(action)}`;
  return `(${isMissing}) or (${isOutdated})${action.overwrite === true ? ` or ${mark} is null` : ""}`;
}

/**
 * The condition under which a merge writes a value: its sources are the same, and no one else has given the row a value.
 * With `overwrite`, the values of others are replaced, but only once. `target` and `source` are the engine's names for
 * the table's row and the new one. Inside functions, it knows no `target`, so the sources must not be among the columns
 * that are merged (docs/engine.md).
 */
export function isCurrent(action: Marked, column: string): string {
  const current = markSql(action);
  const marks = [current, `concat('${failedMark}', ${current})`, `concat('${nullMark}', ${current})`];
  const mark = markPath(action);
  // A value with the same mark may be that of an application, if the merge is repeated.
  const differs = `target.${mark} <> source.${mark}`;
  const mayWrite = action.overwrite === true ? `target.${mark} is null or ${differs}` : differs;
  return `source.${mark} in (${marks.join(", ")}) and (target.${sqlPath([column])} is null or ${mayWrite})`;
}

function markPath({ mark = markName }: Pick<Marked, "mark">): string {
  return sqlPath([mark]);
}
