/** Leads from the engine's message about a value to the rows that have such values. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { givenBy } from "../../actions/apply-action.ts";
import { namesIn, sqlPath, withCastsTried } from "../../schema/sql.ts";
import { findColumn, type Table } from "../../schema/table.ts";

/**
 * A filter that finds all rows for which the action's expressions can't be cast, in parentheses; empty if the problem is
 * another one. The engine names one value, no row, and only the first value of possibly many. `before`: the action's
 * table.
 */
export function castHint(action: Action, before: Table | undefined, problem: string): string {
  if (before === undefined || !problem.includes("Cast error")) return "";
  const where = action.kind === "updateRows" && action.where !== undefined ? [`(${action.where})`] : [];
  const filters = givenBy(action).flatMap(({ sql }) => {
    const tried = sql === undefined ? undefined : withCastsTried(sql);
    if (sql === undefined || tried === undefined) return [];
    const names = new Set(namesIn(sql).filter((name) => findColumn(before.columns, [name]) !== undefined));
    return [
      [...where, ...[...names].map((name) => `${nameIn(sql, name)} is not null`), `${tried} is null`].join(" and "),
    ];
  });
  return filters.length === 0 ? "" : ` (this filter finds all such rows: ${filters.join("; or ")})`;
}

/** The name as the expression writes it. */
function nameIn(sql: string, name: string): string {
  const quoted = sqlPath([name]);
  return sql.includes(quoted) ? quoted : name;
}
