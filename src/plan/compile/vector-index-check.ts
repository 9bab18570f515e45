/** Finds out from the actions of a plan where a table holds no vectors to train an index on. Pure. */
import { count } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { isNull } from "../../actions/model/risk.ts";
import { isWithin, parsePath } from "../../schema/path.ts";
import { isVectorIndex, vectorsNeeded } from "../../schema/table-index.ts";
import { givenBy, givenTo, refAfter } from "../../actions/apply-action.ts";
import type { ColumnRef } from "../../actions/model/action-model.ts";

/** Before each action: its table if that has no rows, and its columns that are null in every row. */
export function bareBefore(actions: readonly Action[]): readonly (readonly ColumnRef[])[] {
  const bare = new Map<string, readonly ColumnRef[]>();
  return actions.map((action) => {
    const before = bare.get(action.table) ?? [];
    const after = [...before.flatMap((one) => refAfter(one, action) ?? []), ...madeBare(action)];
    bare.delete(action.table);
    // The action may have renamed the table.
    if (after[0] !== undefined)
      bare.set(
        after[0].table,
        after.filter((one) => !isFilled(one, action)),
      );
    return before;
  });
}

/** Whether a column, or a field inside it, is null in every row. `bare`: before the action that needs its values. */
export function isBare(bare: readonly ColumnRef[], table: string, path: string): boolean {
  return bare.some((one) => one.table === table && isWithin(parsePath(path), one.path));
}

/** A possible reason why an action failed, in parentheses; empty if the action creates no vector index. */
export function vectorsHint(action: Action): string {
  if (action.kind !== "createIndex" || !isVectorIndex(action.index)) return "";
  return ` (this index is made of vectors: it needs ${count(vectorsNeeded(action.index), "vector")} at least)`;
}

function madeBare(action: Action): readonly ColumnRef[] {
  const { table } = action;
  if (action.kind === "createTable") return (action.rows ?? []).length === 0 ? [{ table, path: [] }] : [];
  // An update may leave other rows as they are.
  if (action.kind === "updateRows") return [];
  return givenBy(action).flatMap(({ path, sql }) => (isNull(sql) ? [{ table, path }] : []));
}

function isFilled(one: ColumnRef, action: Action): boolean {
  if (action.kind === "insertRows") return action.table === one.table;
  const given = givenTo(one, action);
  return given !== undefined && !isNull(given.sql);
}
