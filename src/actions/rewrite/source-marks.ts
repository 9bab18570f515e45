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

/** The mark of the sources in the mark of a row. */
export function markIn(mark: string): string {
  return mark.replaceAll(failedMark, "").replaceAll(nullMark, "");
}

/** An SQL predicate for the rows whose value could not be computed. */
export function hasFailed(action: Pick<Marked, "mark">): string {
  return `starts_with(${markPath(action)}, '${failedMark}')`;
}

/** An SQL predicate for the rows whose value was computed and is up to date. */
export function isComputed(action: Pick<Marked, "mark" | "version" | "from">): string {
  return `replace(${markPath(action)}, '${nullMark}', '') = ${markSql(action)}`;
}

/** SQL for the mark of a row whose value is up to date. Each source has its length, so that no two lists of sources are alike. */
export function markSql({ version, from }: Pick<Marked, "version" | "from">): string {
  const sources = from.map((column) => {
    const text = `cast(${sqlPath([column])} as string)`;
    return `coalesce(cast(octet_length(${text}) as string) || ':' || ${text}, '-')`;
  });
  return `md5(concat(${[sqlText(JSON.stringify([version, from])), ...sources].join(", ")}))`;
}

/**
 * An SQL predicate for the rows whose value is missing or outdated. With `overwrite`, values without a mark are
 * outdated, and the values themselves are not read.
 */
export function isPending(action: Marked, column: string): string {
  const mark = markPath(action);
  const isOutdated = `replace(replace(${mark}, '${failedMark}', ''), '${nullMark}', '') <> ${markSql(action)}`;
  if (action.overwrite === true) return `${mark} is null or ${isOutdated}`;
  const known = `starts_with(${mark}, '${failedMark}') or starts_with(${mark}, '${nullMark}')`;
  // An application may have removed a value that was computed.
  return `(${sqlPath([column])} is null and (${mark} is null or not (${known}))) or (${isOutdated})`;
}

/**
 * The condition under which a merge writes a value: its sources are the same, and no one else has given the row a value.
 * `before`: the row is known to have lacked a value when its address was below this number, and every change of a row
 * but one in place moves it to a higher address. Without it, the merge reads the column in every row of the table.
 * `target` and `source` are the engine's names for the table's row and the new one. Inside functions, it knows no
 * `target`, so the sources must not be among the columns that are merged (docs/engine.md).
 */
export function isCurrent(action: Marked, column: string, before?: number): string {
  const current = markSql(action);
  const marks = [current, `concat('${failedMark}', ${current})`, `concat('${nullMark}', ${current})`];
  const mark = markPath(action);
  // A value with the same mark may be that of an application, if the merge is repeated.
  const differs = `target.${mark} <> source.${mark}`;
  const lacks = before === undefined ? `target.${sqlPath([column])} is null` : `target.${rowAddress} < ${before}`;
  const mayWrite = action.overwrite === true ? `target.${mark} is null` : lacks;
  return `source.${mark} in (${marks.join(", ")}) and (${mayWrite} or ${differs})`;
}

/** The engine's column for where a row is stored. */
export const rowAddress = "_rowaddr";

function markPath({ mark = markName }: Pick<Marked, "mark">): string {
  return sqlPath([mark]);
}
