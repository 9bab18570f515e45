/**
 * Computed columns as the engine stores them: in the metadata of their fields, beside its own notes about refreshes.
 */
import type { Column } from "../../schema/data-type.ts";
import { castSql } from "./arrow-cast.ts";

const mark = "computed_column";
const ofRefreshes = "computed_refresh.";

/** The expression for the engine, which derives the column's type from it. */
export function computedSql({ type, computed }: Column): string {
  return castSql(`(${computed})`, type);
}

/**
 * A column as read, without the metadata that the engine keeps about a computed one. A column that is not computed from
 * SQL keeps its mark, because no step declares such a column.
 */
export function withComputed(column: Column): Column {
  const { metadata, ...rest } = column;
  if (metadata?.[mark] !== "true") return column;
  const isSql = metadata[`${mark}.kind`] === "sql";
  const isNoted = (key: string) =>
    key.startsWith(ofRefreshes) || (isSql && (key === mark || key.startsWith(`${mark}.`)));
  const others = Object.entries(metadata).filter(([key]) => !isNoted(key));
  return {
    ...rest,
    ...(isSql && { computed: bare(column, metadata[`${mark}.expression`] ?? "") }),
    ...(others.length > 0 && { metadata: Object.fromEntries(others) }),
  };
}

/** Whether the engine computes the column's values, from SQL or otherwise. */
export function isComputed({ computed, metadata }: Column): boolean {
  return computed !== undefined || metadata?.[mark] === "true";
}

/** The expression without the cast of `computedSql`. */
function bare(column: Column, expression: string): string {
  if (column.type.kind === "unknown") return expression;
  const [start, end] = castSql("(\0)", column.type).split("\0") as [string, string];
  return expression.startsWith(start) && expression.endsWith(end)
    ? expression.slice(start.length, -end.length)
    : expression;
}
