/**
 * Effects of an action that its table's schema does not show: another program may make the same schema without them.
 * Pure.
 */
import { count } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { isReserved } from "../../actions/rewrite/append-guard.ts";
import { isNull } from "../../actions/model/risk.ts";

/** All fields are text. */
interface Unseen {
  readonly what: string;
  /** The table or column that has this effect or lacks it. */
  readonly where: string;
  /** What another program did to it instead. */
  readonly by: string;
  readonly way: string;
}

/** Undefined if the schema shows all effects of the action, or none. */
export function unseenOf(action: Action): Unseen | undefined {
  const { table } = action;
  switch (action.kind) {
    case "createTable": {
      const { rows = [] } = action;
      const what = `the ${count(rows.length, "row")} of this step`;
      const way = "insert these rows";
      return rows.length === 0 ? undefined : { what, where: `table ${table}`, by: "created", way };
    }
    case "addColumns": {
      const filled = action.columns.find(({ name, as }) => as !== undefined && !isNull(as) && !isReserved(name));
      if (filled === undefined) return undefined;
      const way = "update it to these values";
      return { what: `the values of ${filled.as!}`, where: `column ${filled.name} of ${table}`, by: "added", way };
    }
    case "convertColumn": {
      const where = `column ${action.path} of ${table}`;
      return { what: `the values of ${action.using}`, where, by: "made", way: "put the old column back" };
    }
    case "restoreTable": {
      const where = `table ${table}`;
      const way = "put its columns back, or restore that version";
      return { what: `the rows of version ${action.version}`, where, by: "changed", way };
    }
    default:
      return undefined;
  }
}
