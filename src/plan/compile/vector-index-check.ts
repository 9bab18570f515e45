/** Finds vector indexes that cannot be created, because earlier actions leave no vectors to create them from. Pure. */
import { count } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { formatPath, isWithin, parsePath } from "../../schema/path.ts";
import { isNull } from "../../actions/model/risk.ts";
import { isVectorIndex, vectorsNeeded } from "../../schema/table-index.ts";
import { givenBy, givenTo, refAfter } from "../../actions/apply-action.ts";
import type { ColumnRef } from "../../actions/model/action-model.ts";

/** The problems by the positions of the actions, which must be of one migration: others write no rows between them. */
export function withoutVectors(actions: readonly Action[]): ReadonlyMap<number, string> {
  const bare = bareBefore(actions);
  return new Map(
    actions.flatMap((action, index) => {
      const empty = emptyFor(action, bare[index]!);
      const hint = "create the index in a later migration, and run that once the table holds vectors";
      return empty === undefined ? [] : [[index, vectorsProblem(empty, hint)] as const];
    }),
  );
}

export function vectorsProblem({ table, path }: ColumnRef, hint: string): string {
  const what = path.length === 0 ? `${table} has no rows` : `${formatPath(path)} is all null`;
  return `a vector index needs vectors, and ${what} at that step; ${hint}`;
}

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

/** A possible reason why an action failed, in parentheses; empty if the action creates no vector index. */
export function vectorsHint(action: Action): string {
  if (action.kind !== "createIndex" || !isVectorIndex(action.index)) return "";
  return ` (this index is made of vectors: it needs ${count(vectorsNeeded(action.index), "vector")} at least)`;
}

/** The empty table or null column that leaves a vector index without vectors. `bare`: those before the action. */
export function emptyFor(action: Action, bare: readonly ColumnRef[]): ColumnRef | undefined {
  if (action.kind !== "createIndex" || !isVectorIndex(action.index)) return undefined;
  const path = parsePath(action.index.path);
  return bare.find((one) => isWithin(path, one.path));
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
