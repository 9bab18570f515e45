/** Follows tables and columns through actions, which may rename and drop them. Pure. */
import type { Action } from "./model/action.ts";
import { refAfter } from "./apply-action.ts";
import type { ColumnRef } from "./model/action-model.ts";
import type { DataType } from "../schema/data-type.ts";
import { formatPath, isWithin, parsePath } from "../schema/path.ts";
import { columnPaths, type Database } from "../schema/table.ts";

/** What a table or column is called after these actions; undefined if it is gone. */
export function follow(from: ColumnRef, actions: readonly Action[]): ColumnRef | undefined {
  return actions.reduce<ColumnRef | undefined>((at, action) => at && refAfter(at, action), from);
}

/**
 * What a table or column of `before` is called that these actions turn into `wanted`; undefined if they create it.
 * `after`: follows one action.
 */
export function originOf(
  wanted: ColumnRef,
  actions: readonly Action[],
  before: Database,
  after: typeof refAfter = refAfter,
): ColumnRef | undefined {
  for (const [table, { columns }] of before)
    for (const path of wanted.path.length === 0 ? [[]] : columnPaths(columns)) {
      const from = { table, path };
      const at = actions.reduce<ColumnRef | undefined>((one, action) => one && after(one, action), from);
      if (at?.table === wanted.table && formatPath(at.path) === formatPath(wanted.path)) return from;
    }
  return undefined;
}

/** The name of the table of `before` that these actions turn into `table`; undefined if they create it. */
export function tableBefore(table: string, actions: readonly Action[], before: Database): string | undefined {
  return originOf({ table, path: [] }, actions, before)?.table;
}

/** A column and the types that it was cast to, in order. */
interface CastColumn extends ColumnRef {
  readonly casts: readonly DataType[];
}

/**
 * Where a column with its values is after these actions; undefined if it is gone, or has values that no cast gives.
 * `onlyNulls`: which of its values are null is all that matters, so what is inside it may be cast.
 */
export function followValues(from: ColumnRef, actions: readonly Action[], onlyNulls = false): CastColumn | undefined {
  let casts: readonly DataType[] = [];
  let at: ColumnRef = from;
  for (const action of actions) {
    if (action.table === at.table) {
      if (action.kind === "convertColumn" && parsePath(action.path)[0] === at.path[0]) return undefined;
      const cast = castOf(at, action, onlyNulls);
      if (cast === "other") return undefined;
      if (cast !== undefined) casts = [...casts, cast];
    }
    const next = refAfter(at, action);
    if (next === undefined) return undefined;
    at = next;
  }
  return { ...at, casts };
}

/** The type that an action casts a column to; `other` if it casts a part of it, or a column around it. */
function castOf({ path }: ColumnRef, action: Action, onlyNulls: boolean): DataType | "other" | undefined {
  if (action.kind !== "alterColumns") return undefined;
  const cast = action.alterations.flatMap((one) =>
    one.type === undefined ? [] : [{ ...one, to: parsePath(one.path) }],
  );
  const own = cast.find(({ to }) => formatPath(to) === formatPath(path));
  const isOther = cast.some((one) => one !== own && (isWithin(path, one.to) || (isWithin(one.to, path) && !onlyNulls)));
  return isOther ? "other" : own?.type;
}

/** A table that a migration works on. */
export interface Lineage {
  /** Its name before the migration; undefined if the migration creates it. */
  readonly origin: string | undefined;
  /** Its name after the migration; undefined if the migration drops it. */
  readonly last: string | undefined;
}

/** The table that each action is about. Actions on the same table share one object. */
export function lineagesOf(actions: readonly Action[]): readonly Lineage[] {
  const named = new Map<string, { origin: string | undefined; last: string | undefined }>();
  return actions.map((action) => {
    const { table } = action;
    const origin = action.kind === "createTable" ? undefined : table;
    const lineage = named.get(table) ?? { origin, last: table };
    named.delete(table);
    lineage.last = refAfter({ table, path: [] }, action)?.table;
    if (lineage.last !== undefined) named.set(lineage.last, lineage);
    return lineage;
  });
}
