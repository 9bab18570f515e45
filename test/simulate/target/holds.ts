/** What targets tell of rows and values that no look shows, by what took effect on a table. */
import type { Action } from "../../../src/actions/model/action.ts";
import { madeName } from "../../../src/schema/names.ts";
import { sameType, type Column } from "../../../src/schema/data-type.ts";
import { formatPath, parsePath } from "../../../src/schema/path.ts";
import { madeWith, own, workedOutAs } from "./effect-log.ts";
import type { MemoryTable, MemoryTables } from "./memory-table.ts";

/** Undefined where it is unknown, as a version that would show it was cleaned up. */
export function holdsIn({ versions }: MemoryTables, action: Action): boolean | undefined {
  const listed = versions.list(action.table);
  return listed.some((table) => isIn(table, action, versions)) || (wouldShow(action, listed) ? false : undefined);
}

/** As `src/targets/contract/holds.ts` decides it: clean-ups leave gaps, as versions that are kept stay. */
function wouldShow(action: Action, listed: readonly MemoryTable[]): boolean {
  const isListed = (version: number) => listed.some((one) => one.version === version);
  const areAllSince = (first: number) =>
    listed.filter(({ version }) => version >= first).length === listed.at(-1)!.version - first + 1;
  switch (action.kind) {
    case "addColumns": {
      const added = addedIn(listed, action.columns);
      return added === 1 || isListed(added - 1);
    }
    case "convertColumn": {
      const added = addedIn(listed, [{ name: parsePath(action.path)[0]!, type: action.type }]);
      return areAllSince(Math.max(added - 1, 1));
    }
    case "restoreTable":
      return areAllSince(action.after + 1);
    default:
      return isListed(1);
  }
}

/** Of the versions that have these columns, the newest that follows one that has not; or the oldest of all. */
function addedIn(listed: readonly MemoryTable[], wanted: readonly Pick<Column, "name" | "type">[]): number {
  const has = ({ columns }: MemoryTable) =>
    wanted.every(({ name, type }) => columns.some((one) => one.name === name && sameType(one.type, type)));
  const without = listed.findLastIndex((one) => !has(one));
  return (listed[without + 1] ?? listed.at(-1)!).version;
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
