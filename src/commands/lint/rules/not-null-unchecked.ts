import type { Action } from "../../../actions/model/action.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { formerPath, newNames } from "../../../actions/rewrite/column-renames.ts";
import { isNull } from "../../../actions/model/risk.ts";
import { namesIn } from "../../../schema/sql.ts";
import { restOf } from "../../../plan/compile/track-column.ts";
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
        const where = `${path.map((name) => `\`${name.replaceAll("`", "``")}\``).join(".")} is null`;
        const update = `execute(${JSON.stringify(table)}, { update: { ${JSON.stringify(column)}: … }, where: ${JSON.stringify(where)} })`;
        const whole = path.length === 1 ? "" : `, which sets ${column} as a whole`;
        return {
          message: `a null in ${table}.${formatPath(path)} stops this while it runs, and no step before it in this migration fills them; do that with ${update}${whole}, or check with migrate plan whether there are any`,
          word: formatPath(path),
        };
      });
  },
} as const satisfies Rule;

interface Place {
  readonly table: string;
  readonly path: Path;
}

/** Whether an earlier action takes care of nulls. Goes backwards, so names are followed to what they were before. */
function isLookedAfter(place: Place, { earlier }: Pick<Surroundings, "earlier">): boolean {
  let at = place;
  return earlier()
    .toReversed()
    .some(({ action }) => {
      at = placeBefore(at, action);
      return looksAfter(action, at);
    });
}

function placeBefore(at: Place, action: Action): Place {
  if (action.kind === "renameTable") return action.name === at.table ? { ...at, table: action.table } : at;
  if (action.kind !== "alterColumns" || action.table !== at.table) return at;
  return { ...at, path: formerPath(at.path, newNames(action.alterations)) };
}

/** Whether an action gives values to the column, or deletes rows by a condition on it. */
function looksAfter(action: Action, { table, path }: Place): boolean {
  if (action.table !== table) return false;
  const isAround = (one: Path) => restOf(path, one) !== undefined;
  switch (action.kind) {
    case "updateRows":
      return Object.entries(action.set).some(([one, value]) => isAround(parsePath(one)) && !isNull(value));
    case "deleteRows":
      return path.every((name) => namesIn(action.where).includes(name));
    case "convertColumn":
      return isAround(parsePath(action.path)) && !isNull(action.using);
    case "addColumns":
      return action.columns.some(({ name, as }) => name === path[0] && as !== undefined && !isNull(as));
    default:
      return false;
  }
}
