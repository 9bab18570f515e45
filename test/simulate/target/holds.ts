/** What targets tell of rows and values that no look shows, by what took effect on a table. */
import type { Action } from "../../../src/actions/model/action.ts";
import { madeName } from "../../../src/schema/names.ts";
import { formatPath } from "../../../src/schema/path.ts";
import { madeWith, own, workedOutAs } from "./effect-log.ts";
import type { MemoryTable, MemoryTables } from "./memory-table.ts";

/** Undefined where it is unknown, as a version that would show it was cleaned up. */
export function holdsIn({ versions }: MemoryTables, action: Action): boolean | undefined {
  const listed = versions.list(action.table);
  return listed.some((table) => isIn(table, action, versions)) || (listed[0]!.version === 1 ? false : undefined);
}

function isIn({ columns, effects }: MemoryTable, action: Action, versions: MemoryTables["versions"]): boolean {
  const has = (path: string, words: string) => effects.get(path)?.includes(words) === true;
  switch (action.kind) {
    case "createTable":
      return madeWith(action).every((words) => has(own, words));
    case "addColumns":
      return action.columns.every(({ name, as }) => as === undefined || has(formatPath([name]), workedOutAs(as)));
    case "convertColumn":
      return columns.some(({ name }) => name === madeName);
    case "restoreTable":
      return (
        versions.restoredAs(action.table, action.version, action.after) !== undefined ||
        versions.since(action.table, action.version).removed === 0
      );
    default:
      return true;
  }
}
