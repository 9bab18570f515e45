/** The model action by action, each time as a new value; src changes one map, for speed. */
import type { Action } from "../../src/actions/model/action.ts";
import { tableAfter } from "../../src/actions/apply-action.ts";
import type { Database } from "../../src/schema/table.ts";

/** The database after an action; the one before stays as it was. */
export function applyAction(database: Database, action: Action): Database {
  return new Map(database).set(action.table, tableAfter(database, action));
}
