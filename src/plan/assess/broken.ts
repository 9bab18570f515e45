/** What the engine accepts, and what fails later or elsewhere, whatever the rows are. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { parsePath } from "../../schema/path.ts";
import type { Plan } from "../make-plan.ts";

interface Before {
  readonly now: Plan["now"];
  readonly earlier: readonly Action[];
}

/** Why an action is refused for that; undefined if it is not. */
export function brokenBy(action: Action, before: Before): string | undefined {
  if (action.kind === "createIndex" && action.index.kind === "fm") return brokenIndex(action.table, action.index.path);
  if (action.kind === "createTable") return alikeTable(action.table, before);
  return action.kind === "renameTable" ? alikeTable(action.name, before, action.table) : undefined;
}

/** With such an index, every `optimize` of its table fails, also when it is replaced (docs/internals/engine.md). */
function brokenIndex(table: string, path: string): string | undefined {
  if (parsePath(path).length === 1) return undefined;
  return `with an fm index on ${path}, a field of a struct, the engine can't optimize ${table} any more; copy the field to a column of its own and index that, or use fts`;
}

/** A table has a folder of its name, and many file systems ignore case in names. */
function alikeTable(name: string, { now, earlier }: Before, own?: string): string | undefined {
  const gone = new Set(earlier.flatMap((one) => (["dropTable", "renameTable"].includes(one.kind) ? [one.table] : [])));
  // Not those that the plan makes itself: a history that has both can't be changed any more.
  const other = [...now.keys()].find(
    (one) => one !== name && one !== own && !gone.has(one) && one.toLowerCase() === name.toLowerCase(),
  );
  return (
    other &&
    `the name ${name} differs from that of table ${other} only in case, and file systems such as those of macOS and Windows treat both as the same name; choose another name`
  );
}
