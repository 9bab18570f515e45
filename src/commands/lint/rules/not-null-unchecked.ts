import type { Action } from "../../../actions/model/action.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { givenTo } from "../../../actions/apply-action.ts";
import { originOf } from "../../../actions/follow.ts";
import type { ColumnRef } from "../../../actions/model/action-model.ts";
import { isNull } from "../../../actions/model/risk.ts";
import { namesIn, sqlPath } from "../../../schema/sql.ts";
import { databaseOf } from "../../../schema/table.ts";
import { isNew, type Rule, type Surroundings } from "./rule.ts";

/** Reports a column that is made not null although no earlier step of the migration fills its nulls. */
export const notNullUnchecked = {
  id: "not-null-unchecked",
  severity: "note",
  check: ({ action }, surroundings) => {
    const { table } = action;
    if (action.kind !== "alterColumns" || isNew(table, surroundings)) return [];
    return action.alterations
      .filter(({ nullable }) => nullable === false)
      .map(({ path }) => parsePath(path))
      .filter((path) => !isLookedAfter({ table, path }, surroundings))
      .map((path) => {
        const column = formatPath(path.slice(0, 1));
        const where = `${sqlPath(path)} is null`;
        const update = `execute(${JSON.stringify(table)}, { update: { ${JSON.stringify(column)}: … }, where: ${JSON.stringify(where)} })`;
        const whole = path.length === 1 ? "" : `, which sets ${column} as a whole`;
        return {
          message: `a null in ${table}.${formatPath(path)} stops this while it runs, and no step before it in this migration fills them; do that with ${update}${whole}, or check with migrate plan whether there are any`,
          word: formatPath(path),
        };
      });
  },
} as const satisfies Rule;

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
