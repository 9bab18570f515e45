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

export type Marked = Pick<FillColumnAction, "version" | "from" | "mark" | "overwrite">;

/** Begins the mark of a row whose value could not be computed. */
export const failedMark = "!";
/** Begins the mark of a row whose value was computed and is null. */
export const nullMark = "-";

/** Begins the mark of a row whose value was computed when the column was in use: the column before it has no such value. */
export const laterMark = "+";

/** Is before the hash of the value in the mark of a row that SQL has made (`printSql`). */
export const printMark = "~";
/** Is before the hash of the value in the mark of a row. */
export const valueMark = "#";
/** Is before the hash of the code in the mark of a row that code computed. */
export const codeMark = "@";

/** A regular expression for what the mark of a row has besides that of the sources. */
export const besidesSources = `[${failedMark}${laterMark}${nullMark}]|[${valueMark}${codeMark}].*$`;

/** The mark of the sources in the mark of a row. */
export function markIn(mark: string): string {
  return mark.replace(new RegExp(besidesSources, "g"), "");
}

/** The end of the mark of a row that is computed now: the hash of the code. */
export function codePart({ codeHash }: { readonly codeHash?: string | undefined }): string {
  return codeHash === undefined ? "" : `${codeMark}${codeHash}`;
}

/** SQL for the mark of the sources, without a beginning. */
export function sourceMark(mark: string, ...beginnings: readonly string[]): string {
  const plain = beginnings.reduce((sql, beginning) => `replace(${sql}, '${beginning}', '')`, mark);
  return `split_part(split_part(${plain}, '${codeMark}', 1), '${valueMark}', 1)`;
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
  const outdated = isOutdated(action);
  if (action.overwrite === true) return `${mark} is null or ${outdated}`;
  const known = `starts_with(${mark}, '${failedMark}') or starts_with(${mark}, '${nullMark}')`;
  // An application may have removed a value that was computed.
  return `(${sqlPath([column])} is null and (${mark} is null or not (${known}))) or (${outdated})`;
}

export function isOutdated(action: Marked): string {
  return `${sourceMark(markPath(action), failedMark, nullMark, laterMark)} <> ${markSql(action)}`;
}

/** An SQL predicate for no row. */
export const isNever = "false";

/**
 * An SQL predicate for the rows whose old value is intact: its sources are those of when the column was replaced by
 * another one. A mark that was made later, or none, means that the row was written since, perhaps with its new value
 * alone. `marked`: the version in the marks `kept`; undefined if there are none.
 */
export function isIntact(
  { from }: Pick<Marked, "from">,
  column: string,
  marked: string | undefined,
  kept: string,
): string {
  const own = sqlPath([column]);
  if (marked === undefined) return isNever;
  const mark = sourceMark(sqlPath([kept]), failedMark, nullMark);
  // A row without a mark is not intact: null is neither true nor false.
  return `${own} is not null and coalesce(${mark} = ${markSql({ version: marked, from })}, false)`;
}

/** The engine's column for where a row is stored. */
export const rowAddress = "_rowaddr";

export function markPath({ mark = markName }: Pick<Marked, "mark">): string {
  return sqlPath([mark]);
}
