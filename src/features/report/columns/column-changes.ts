/** What one action changes about a column. Pure. */
import { givenTo } from "../../../actions/apply-action.ts";
import type { Action } from "../../../actions/model/action.ts";
import { isNull } from "../../../actions/model/risk.ts";
import { describeComputation } from "../../../actions/rewrite/check-computation.ts";
import { formatColumn, ownValue, sameType, type Column } from "../../../schema/data-type.ts";
import { formatPath, type Path } from "../../../schema/path.ts";
import { formatIndex } from "../../../schema/table-index.ts";
import { findColumn, type Table } from "../../../schema/table.ts";

/**
 * - `created`: `after` is its type; `before` is the column whose values it keeps, if there is one.
 * - `renamed`: the column or a struct around it; `before` and `after` are paths.
 * - `moved`: its table was renamed; `before` and `after` are tables.
 * - `retyped`, `nullability`: `before` and `after` are types. `retyped` includes a new expression of a computed column.
 * - `filled`: it gets the values of the SQL expression `after`, in every row or in some.
 * - `computed`: code computes its values, or the engine computes them again; `after` states from what.
 * - `indexed`: `before` and `after` are indexes; one of them is absent if the index is created or dropped.
 * - `metadata`: `before` and `after` are the keys that change, with their values.
 * - `dropped`: by itself, or with its table; `before` is its type.
 */
export type ColumnChangeKind =
  | "created"
  | "renamed"
  | "moved"
  | "retyped"
  | "nullability"
  | "filled"
  | "computed"
  | "indexed"
  | "metadata"
  | "dropped";

/** A change as text. */
export interface ChangeText {
  readonly change: ColumnChangeKind;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** A column, or a field of a struct, and the table that has it. */
export interface PlacedColumn {
  readonly name: string;
  readonly table: Table;
  readonly path: Path;
}

export function columnAt({ table, path }: PlacedColumn): Column {
  return findColumn(table.columns, path)!;
}

/** A column's type, with what else belongs to it: `int64 not null`. */
export function typeText(column: Column): string {
  return formatColumn(column).slice(column.name.length + 1);
}

export function changesBetween(was: PlacedColumn, is: PlacedColumn, action: Action): readonly ChangeText[] {
  return [
    ...textChange("moved", was.name, is.name),
    ...textChange("renamed", formatPath(was.path), formatPath(is.path)),
    ...typeChanges(columnAt(was), columnAt(is)),
    ...valuesOf(is, was.path, action),
    ...(was.table.indexes === is.table.indexes ? [] : indexChanges(was, is)),
    ...metadataChanges(columnAt(was), columnAt(is)),
  ];
}

/** What an action does to a column that it creates. `from`: the column whose values it keeps. */
export function creationOf(is: PlacedColumn, from: Path | undefined, action: Action): readonly ChangeText[] {
  const values = valuesOf(is, is.path, action).filter(({ after }) => from === undefined && !isNull(after));
  const before = from && formatPath(from);
  return [{ change: "created", before, after: typeText(columnAt(is)) }, ...values, ...indexChanges(undefined, is)];
}

function textChange(
  change: ColumnChangeKind,
  before: string | undefined,
  after: string | undefined,
): readonly ChangeText[] {
  return before === after ? [] : [{ change, before, after }];
}

/** Fields of structs have changes of their own, so they are no changes of the struct. */
function typeChanges(was: Column, is: Column): readonly ChangeText[] {
  const isStruct = was.type.kind === "struct" && is.type.kind === "struct";
  const isSame = (isStruct || sameType(was.type, is.type)) && was.computed === is.computed;
  if (isSame && was.nullable === is.nullable) return [];
  return [{ change: isSame ? "nullability" : "retyped", before: typeText(was), after: typeText(is) }];
}

/** `before`: the path before the action, by which the action calls it. */
function valuesOf(is: PlacedColumn, before: Path, action: Action): readonly ChangeText[] {
  const given = givenTo({ table: action.table, path: before }, action);
  if (given === undefined) return [];
  if (given.sql !== undefined) return [{ change: "filled", after: given.sql }];
  return [
    {
      change: "computed",
      after: "path" in action && "with" in action ? describeComputation(action) : columnAt(is).computed,
    },
  ];
}

function indexChanges(was: PlacedColumn | undefined, is: PlacedColumn): readonly ChangeText[] {
  const [old, now] = [was === undefined ? {} : indexesOn(was), indexesOn(is)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names.flatMap((name) => textChange("indexed", ownValue(old, name), ownValue(now, name)));
}

/** By name, as text. */
function indexesOn({ table, path }: PlacedColumn): Readonly<Record<string, string>> {
  const own = formatPath(path);
  return Object.fromEntries(
    Object.entries(table.indexes ?? {}).flatMap(([name, index]) =>
      index?.path === own ? [[name, `${name}, ${formatIndex(index)}`]] : [],
    ),
  );
}

function metadataChanges({ metadata: was = {} }: Column, { metadata: is = {} }: Column): readonly ChangeText[] {
  const valueOf = (values: Column["metadata"], key: string) => ownValue(values, key) ?? null;
  const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (key) => valueOf(was, key) !== valueOf(is, key),
  );
  const text = (values: Column["metadata"]) => {
    const set = keys.filter((key) => valueOf(values, key) !== null);
    return set.length === 0 ? undefined : set.map((key) => `${key}=${JSON.stringify(valueOf(values, key))}`).join(", ");
  };
  return keys.length === 0 ? [] : [{ change: "metadata", before: text(was), after: text(is) }];
}
