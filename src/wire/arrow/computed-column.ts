/** Computed columns as the engine keeps them: in the metadata of their fields, beside its own notes about refreshes. */
import type { Column } from "../../schema/data-type.ts";
import { arrowName } from "./arrow-cast.ts";

const mark = "computed_column";
const ofRefreshes = "computed_refresh.";

/** The expression for the engine, which takes the column's type from it. */
export function computedSql(column: Column): string {
  const [start, end] = around(column);
  return `${start}${column.computed}${end}`;
}

/**
 * A column as it was read, without what the engine notes of a computed one. One that is computed by something else than SQL keeps
 * its mark, as no step declares it.
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

/** Whether the engine computes its values, from SQL or otherwise. */
export function isComputed({ computed, metadata }: Column): boolean {
  return computed !== undefined || metadata?.[mark] === "true";
}

function around({ type }: Column): readonly [start: string, end: string] {
  return ["arrow_cast((", `), '${arrowName(type).replaceAll("'", "''")}')`];
}

/** Without the cast of `computedSql`. */
function bare(column: Column, expression: string): string {
  if (column.type.kind === "unknown") return expression;
  const [start, end] = around(column);
  return expression.startsWith(start) && expression.endsWith(end)
    ? expression.slice(start.length, -end.length)
    : expression;
}
