/** Indexes of vectors that can't be made, as their migration itself has left nothing to make them of. Pure. */
import { count } from "../errors.ts";
import type { Action } from "../schema/action.ts";
import { parsePath, type Path } from "../schema/path.ts";
import { isNull } from "../schema/risk.ts";
import { isVectorIndex, vectorsNeeded } from "../schema/table-index.ts";
import { placeAfter, restOf } from "./follow.ts";

/** A table without rows, with an empty path, or a column that is null in every row. */
interface Bare {
  readonly table: string;
  readonly path: Path;
}

/** The reasons by the places of the actions. They are those of one migration, which nobody writes rows between. */
export function withoutVectors(actions: readonly Action[]): ReadonlyMap<number, string> {
  const reasons = new Map<number, string>();
  let bare: readonly Bare[] = [];
  for (const [index, action] of actions.entries()) {
    const empty = action.kind === "createIndex" ? emptyFor(action, bare) : undefined;
    if (empty !== undefined) {
      const what = empty.path.length === 0 ? `${empty.table} has no rows` : `${empty.path[0]!} is all null`;
      reasons.set(
        index,
        `an index of vectors needs some, and ${what} by then; make it in a later migration, to be run once there are`,
      );
    }
    bare = [...bare.flatMap((one) => placeAfter(one, action) ?? []), ...madeBare(action)].filter(
      (one) => !isFilled(one, action),
    );
  }
  return reasons;
}

/** What an action may have failed of, in brackets; nothing where it is no such index. */
export function vectorsHint(action: Action): string {
  if (action.kind !== "createIndex" || !isVectorIndex(action.index)) return "";
  return ` (this index is made of vectors: it needs ${count(vectorsNeeded(action.index), "row")} at least)`;
}

function emptyFor(action: Extract<Action, { readonly kind: "createIndex" }>, bare: readonly Bare[]): Bare | undefined {
  if (!isVectorIndex(action.index)) return undefined;
  const path = parsePath(action.index.path);
  return bare.find((one) => one.table === action.table && restOf(path, one.path) !== undefined);
}

function madeBare(action: Action): readonly Bare[] {
  const { table } = action;
  switch (action.kind) {
    case "createTable":
      return (action.rows ?? []).length === 0 ? [{ table, path: [] }] : [];
    case "addColumns":
      return action.columns.filter(({ as }) => as === undefined).map(({ name }) => ({ table, path: [name] }));
    case "convertColumn":
      return isNull(action.using) ? [{ table, path: parsePath(action.path) }] : [];
    default:
      return [];
  }
}

function isFilled({ table, path }: Bare, action: Action): boolean {
  if (action.table !== table) return false;
  if (action.kind === "insertRows") return true;
  return action.kind === "updateRows" && Object.keys(action.set).some((one) => parsePath(one)[0] === path[0]);
}
