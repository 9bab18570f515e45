/** Indexes of vectors that can't be made, as their migration itself has left nothing to make them of. Pure. */
import { count } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { isNull } from "../../actions/model/risk.ts";
import { isVectorIndex, vectorsNeeded } from "../../schema/table-index.ts";
import { placeAfter, restOf } from "./track-column.ts";

/** A table without rows, with an empty path, or a column that is null in every row. */
export interface Bare {
  readonly table: string;
  readonly path: Path;
}

/** The reasons by the places of the actions. They are those of one migration, which nobody writes rows between. */
export function withoutVectors(actions: readonly Action[]): ReadonlyMap<number, string> {
  const bare = bareBefore(actions);
  return new Map(
    actions.flatMap((action, index) => {
      const empty = emptyFor(action, bare[index]!);
      const hint = "make it in a later migration, to be run once there are";
      return empty === undefined ? [] : [[index, vectorsProblem(empty, hint)] as const];
    }),
  );
}

export function vectorsProblem({ table, path }: Bare, hint: string): string {
  const what = path.length === 0 ? `${table} has no rows` : `${formatPath(path)} is all null`;
  return `an index of vectors needs some, and ${what} by then; ${hint}`;
}

/** What is bare before each action, because those before have left it so. */
export function bareBefore(actions: readonly Action[]): readonly (readonly Bare[])[] {
  let bare: readonly Bare[] = [];
  return actions.map((action) => {
    const before = bare;
    bare = [...bare.flatMap((one) => placeAfter(one, action) ?? []), ...madeBare(action)].filter(
      (one) => !isFilled(one, action),
    );
    return before;
  });
}

/** What an action may have failed of, in brackets; nothing where it is no such index. */
export function vectorsHint(action: Action): string {
  if (action.kind !== "createIndex" || !isVectorIndex(action.index)) return "";
  return ` (this index is made of vectors: it needs ${count(vectorsNeeded(action.index), "row")} at least)`;
}

/** What leaves an index of vectors nothing to be made of. */
export function emptyFor(action: Action, bare: readonly Bare[]): Bare | undefined {
  if (action.kind !== "createIndex" || !isVectorIndex(action.index)) return undefined;
  const path = parsePath(action.index.path);
  return bare.find((one) => one.table === action.table && restOf(path, one.path) !== undefined);
}

function madeBare(action: Action): readonly Bare[] {
  const { table } = action;
  switch (action.kind) {
    case "createTable":
      return (action.rows ?? []).length === 0 ? [{ table, path: [] }] : [];
    case "addColumns":
      return action.columns
        .filter(({ as }) => as === undefined || isNull(as))
        .map(({ name }) => ({ table, path: [name] }));
    case "addField":
      return [{ table, path: parsePath(action.path) }];
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
