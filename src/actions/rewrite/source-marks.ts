/**
 * Marks: while code computes the values of a column, a second column holds for each row a hash of what its value was
 * computed from. So SQL finds the rows whose value is missing or outdated, and a value is only written to a row whose
 * sources are still those that it was computed from.
 */
import type { AddedColumn } from "../model/action.ts";
import type { Computation } from "../model/computation.ts";
import { sqlPath, sqlText } from "../../schema/sql.ts";

const name = "_lance_migrate_source";

export const markColumn: AddedColumn = { name, type: { kind: "utf8" }, nullable: true };

/** Begins the mark of a row whose value could not be computed. */
export const failedMark = "!";
/** Begins the mark of a row whose value was computed and is null. */
export const nullMark = "-";

/** An SQL predicate for the rows whose value could not be computed. */
export const hasFailed = `starts_with(${name}, '${failedMark}')`;

/** SQL for the mark of a row whose value is up to date. Null and an empty text differ. */
export function markSql({ version, from }: Pick<Computation, "version" | "from">): string {
  const sources = from.map((column) => `coalesce(cast(${sqlPath([column])} as string), chr(0))`);
  return `md5(concat_ws(chr(31), ${[sqlText(version), ...sources].join(", ")}))`;
}

/** An SQL predicate for the rows without a value. An application may have removed a value that was computed. */
export function isMissing(column: string): string {
  const known = `starts_with(${name}, '${failedMark}') or starts_with(${name}, '${nullMark}')`;
  return `${sqlPath([column])} is null and (${name} is null or not (${known}))`;
}

/** An SQL predicate for the rows whose sources have changed since their value was computed. */
export function isOutdated(computation: Pick<Computation, "version" | "from">): string {
  return `replace(replace(${name}, '${failedMark}', ''), '${nullMark}', '') <> ${markSql(computation)}`;
}

/**
 * The condition under which a merge writes a value: its sources are the same, and no one else has given the row a value.
 * `target` and `source` are the engine's names for the table's row and the new one. Inside functions, it knows no
 * `target`, so the sources must not be among the columns that are merged (docs/engine.md).
 */
export function isCurrent(computation: Pick<Computation, "version" | "from">, column: string): string {
  const mark = markSql(computation);
  const marks = [mark, `concat('${failedMark}', ${mark})`, `concat('${nullMark}', ${mark})`];
  const value = `target.${sqlPath([column])}`;
  // A value with the same mark may be that of an application, if the merge is repeated.
  const ours = `${value} is null or (target.${name} is not null and target.${name} <> source.${name})`;
  return `source.${name} in (${marks.join(", ")}) and (${ours})`;
}
