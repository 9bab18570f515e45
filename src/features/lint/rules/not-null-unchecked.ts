import type { Action } from "../../../actions/model/action.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";
import { isFloat, isInteger, isTextType } from "../../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { givenTo } from "../../../actions/apply-action.ts";
import { originOf } from "../../../actions/follow.ts";
import type { ColumnRef } from "../../../actions/model/action-model.ts";
import { isNull } from "../../../actions/model/risk.ts";
import { namesIn, sqlPath } from "../../../schema/sql.ts";
import { databaseOf, findColumn } from "../../../schema/table.ts";
import { isNew, type Rule, type Surroundings } from "./rule.ts";

/** Reports a column that is made not null although no earlier step of the migration fills its nulls. */
export const notNullUnchecked = {
  id: "not-null-unchecked",
  severity: "note",
  finds: "`nullable: false` on a column that no earlier step of the migration fills",
  check: ({ action, before }, surroundings) => {
    const { table } = action;
    if (action.kind !== "alterColumns" || isNew(table, surroundings)) return [];
    return action.alterations
      .filter(({ nullable }) => nullable === false)
      .map(({ path }) => parsePath(path))
      .filter((path) => !isLookedAfter({ table, path }, surroundings))
      .map((path) => {
        const column = formatPath(path.slice(0, 1));
        const where = `${sqlPath(path)} is null`;
        const value = path.length > 1 ? undefined : exampleSql(before, table, path);
        const sql = value === undefined ? "…" : JSON.stringify(value);
        const update = `execute(${JSON.stringify(table)}, { update: { ${JSON.stringify(column)}: ${sql} }, where: ${JSON.stringify(where)} })`;
        const meaning = value === undefined ? "" : `, in which ${value} is the value for the rows with a null`;
        const whole = path.length === 1 ? meaning : `, which sets ${column} as a whole`;
        return {
          message: `a null in ${table}.${formatPath(path)} stops this while it runs, and no step before it in this migration fills them; put before it ${update}${whole}, or check with migrate plan whether there are any`,
          word: formatPath(path),
        };
      });
  },
} as const satisfies Rule;

/** SQL of a value that fits the column, so that the proposed step works as it is. Undefined if its type has none. */
function exampleSql(before: PlannedAction["before"], table: string, path: Path): string | undefined {
  const type = findColumn(before.get(table)?.columns ?? [], path)?.type;
  if (type === undefined) return undefined;
  if (isTextType(type)) return "''";
  if (type.kind === "bool") return "false";
  return isInteger(type) || isFloat(type) ? "0" : undefined;
}

/** Whether an earlier action takes care of nulls. */
function isLookedAfter(column: ColumnRef, { earlier }: Pick<Surroundings, "earlier">): boolean {
  const actions = earlier();
  return actions.some(({ action, after }, index) => {
    const later = actions.slice(index + 1).map((one) => one.action);
    const at = originOf(column, later, databaseOf(after));
    return at !== undefined && looksAfter(action, at);
  });
}

/** Whether an action gives values to the column, or deletes rows by a condition on it. */
function looksAfter(action: Action, column: ColumnRef): boolean {
  if (action.kind === "deleteRows")
    return action.table === column.table && column.path.every((name) => namesIn(action.where).includes(name));
  const given = givenTo(column, action);
  return given !== undefined && !isNull(given.sql);
}
