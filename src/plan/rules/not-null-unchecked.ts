import type { Action } from "../../schema/action.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { isNull } from "../../schema/risk.ts";
import { namesIn } from "../../schema/sql.ts";
import { isNew, type Rule } from "./rule.ts";

/** A column that is made not null though nothing has made sure that it holds no nulls. */
export const notNullUnchecked = {
  id: "not-null-unchecked",
  severity: "note",
  check: ({ action }, surroundings) => {
    const { table } = action;
    if (action.kind !== "alterColumns" || isNew(table, surroundings)) return [];
    return action.alterations
      .filter(({ nullable }) => nullable === false)
      .map(({ path }) => parsePath(path))
      .filter(([column]) => !surroundings.earlier.some((one) => looksAfter(one.action, table, column!)))
      .map((path) => {
        const [column] = path;
        const update = `execute("${table}", { update: { ${JSON.stringify(column)}: … }, where: "${column} is null" })`;
        return {
          message: `a null in ${table}.${formatPath(path)} stops this while it runs, and no step before it in this migration fills them; do that with ${update}, or see with migrate plan that there are none`,
          word: path.at(-1)!,
        };
      });
  },
} as const satisfies Rule;

/** Whether it gives values to the column, or deletes rows by it. */
function looksAfter(action: Action, table: string, column: string): boolean {
  if (action.table !== table) return false;
  switch (action.kind) {
    case "updateRows":
      return Object.entries(action.set).some(([path, value]) => parsePath(path)[0] === column && !isNull(value));
    case "deleteRows":
      return namesIn(action.where).includes(column);
    case "convertColumn":
      return parsePath(action.path)[0] === column && !isNull(action.using);
    case "addColumns":
      return action.columns.some(({ name, as }) => name === column && as !== undefined && !isNull(as));
    default:
      return false;
  }
}
