/** The effect of one `alter_columns` call. The call is atomic, and every path refers to the table before the call. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { conflict } from "../model/conflict.ts";
import { castVerdict } from "../../schema/cast-rules.ts";
import { checkNotComputed, checkNotRead, declareAgain } from "./computed-columns.ts";
import {
  childColumns,
  formatType,
  sameType,
  withChildColumns,
  type Column,
  type DataType,
} from "../../schema/data-type.ts";
import { withMetadataOf } from "../../schema/metadata.ts";
import { columnNameProblem, madeName } from "../../schema/names.ts";
import { formatPath, isWithin, parsePath, type Path } from "../../schema/path.ts";
import { currentPath, newNames, type Alteration } from "../model/alteration.ts";
import { findColumn, leavesOf, replaceColumn, requireColumn, twinOf, type Table } from "../../schema/table.ts";

export function describeAlteration(table: string, { path, rename, type, nullable }: Alteration): string {
  const changes = [
    ...(rename === undefined ? [] : [`rename ${table}.${path} to ${rename}`]),
    ...(type === undefined ? [] : [`retype ${table}.${path} to ${formatType(type)}`]),
    ...(nullable === undefined ? [] : [`make ${table}.${path} ${nullable ? "nullable" : "not null"}`]),
  ];
  return changes.join(", ");
}

interface Located {
  readonly alteration: Alteration;
  readonly path: Path;
  readonly column: Column;
}

/** The table after the call. Throws if the engine would refuse the call, or would accept it and break the table. */
export function applyAlterations(name: string, table: Table, alterations: readonly Alteration[]): Table {
  const located = alterations.map((alteration) => locate(name, table, alteration));
  checkTogether(name, located);
  for (const one of located) checkAlone(name, table, one);

  // Paths are resolved before any rename: otherwise a swap would find the column that it has just renamed.
  const pending = located.reduce(
    (columns, { path, alteration }) => replaceColumn(columns, path, (column) => withPending(column, alteration)),
    table.columns,
  );
  return {
    ...table,
    columns: applyRenames(pending, name),
    ...(table.indexes && { indexes: moved(table.indexes, alterations) }),
  };
}

/** The indexes, with the new paths of their columns. */
function moved(indexes: NonNullable<Table["indexes"]>, alterations: readonly Alteration[]): Table["indexes"] {
  const names = newNames(alterations);
  const entries = Object.entries(indexes).map(([name, index]) => {
    const path = index === null ? [] : currentPath(parsePath(index.path), names);
    return [name, index === null ? null : { ...index, path: formatPath(path) }] as const;
  });
  return Object.fromEntries(entries);
}

function locate(name: string, table: Table, alteration: Alteration): Located {
  const path = parsePath(alteration.path);
  return { alteration, path, column: requireColumn(name, table.columns, path) };
}

function checkTogether(name: string, located: readonly Located[]): void {
  const paths = new Set<string>();
  for (const { path } of located) {
    const text = formatPath(path);
    if (paths.has(text))
      throw conflict(name, `column ${text} is altered twice in one call; put its changes into one entry`);
    paths.add(text);
  }
  const retyped = located.find(({ alteration }) => alteration.type !== undefined);
  const tightened = located.find(({ alteration }) => alteration.nullable === false);
  if (retyped !== undefined && tightened !== undefined)
    throw conflict(
      name,
      `the engine refuses a retype (${formatPath(retyped.path)}) and "not null" (${formatPath(tightened.path)}) in one call; make "not null" a step after it`,
    );
  const nested = located.find(
    ({ path, alteration }) =>
      alteration.type !== undefined &&
      located.some((other) => other.path.length > path.length && isWithin(other.path, path)),
  );
  if (nested !== undefined)
    throw conflict(
      name,
      `column ${formatPath(nested.path)} is retyped in the same call as a column inside it; make them two steps`,
    );
}

function checkAlone(name: string, table: Table, { alteration, path, column }: Located): void {
  const place = `${name}.${formatPath(path)}`;
  const { rename, type, nullable } = alteration;
  if (rename !== undefined || type !== undefined) checkNotRead(name, table.columns, path);
  if (type !== undefined || path.length > 1) checkNotComputed(name, table.columns, path, declareAgain);
  if (nullable === false)
    checkNotComputed(
      name,
      table.columns,
      path,
      "it stays nullable, as rows that are added have no value in it before a refresh",
    );
  if (rename !== undefined) checkRename(place, column, rename);
  // A field under its temporary name is cast to its own type, which writes it.
  if (type !== undefined && !path.includes(madeName)) checkRetype(place, column, type);
  if (type !== undefined && path.length > 1) checkStruct(place, table, path);
  if (nullable !== undefined) checkNullable(place, table, path, column, nullable);
}

function checkRename(place: string, column: Column, rename: string): void {
  const problem = columnNameProblem(rename);
  if (problem !== undefined) throw new MigrateError("ERR_COLUMN_NAME", { name: rename, problem });
  if (rename === column.name) throw new MigrateError("ERR_NO_EFFECT", { problem: `${place} has that name already` });
}

function checkRetype(place: string, column: Column, type: DataType): void {
  if (sameType(column.type, type))
    throw new MigrateError("ERR_NO_EFFECT", { problem: `${place} is ${formatType(type)} already` });
  const verdict = castVerdict(column.type, type);
  if (!verdict.allowed)
    throw new MigrateError("ERR_CAST_REFUSED", {
      column: place,
      from: formatType(column.type),
      to: formatType(type),
      hint: verdict.hint,
    });
}

/**
 * If only some fields of a struct are retyped, later reads and updates of the table fail (docs/internals/engine.md). So a target
 * retypes all fields, the others to their own types. Throws if one of them can't be cast at all.
 */
function checkStruct(place: string, table: Table, [name]: Path): void {
  const stuck = leavesOf(findColumn(table.columns, [name!])!).find(({ type }) => !castVerdict(type, type).allowed);
  if (stuck !== undefined)
    throw conflict(
      place,
      `the engine retypes the fields of a struct only all together, and ${formatPath(stuck.path)} (${formatType(stuck.type)}) can't be cast at all`,
    );
}

function checkNullable(place: string, table: Table, path: Path, column: Column, nullable: boolean): void {
  if (column.nullable === nullable)
    throw new MigrateError("ERR_NO_EFFECT", { problem: `${place} is ${nullable ? "nullable" : "not null"} already` });
  if (nullable) return;
  if (column.type.kind === "null")
    throw conflict(place, "a column of type null holds nothing but nulls and can't be made not null");
  const insideList = path.slice(0, -1).some((_, index) => {
    const kind = findColumn(table.columns, path.slice(0, index + 1))?.type.kind;
    return kind === "list" || kind === "largeList" || kind === "fixedSizeList";
  });
  if (insideList) throw conflict(place, "the engine can't make a column inside a list not null");
}

/** A column that is renamed after all paths have been resolved. */
interface PendingColumn extends Column {
  readonly newName?: string | undefined;
}

function withPending(column: Column, { rename, type, nullable }: Alteration): PendingColumn {
  const retyped = type === undefined ? column : withMetadataOf(column, { ...column, type });
  return { ...retyped, nullable: nullable ?? column.nullable, newName: rename };
}

function applyRenames(columns: readonly PendingColumn[], place: string): readonly Column[] {
  const settled = columns.map((column) => {
    const inside = childColumns(column.type);
    const after = applyRenames(inside, `${place}.${column.name}`);
    const isSame = after.every((one, index) => one === inside[index]);
    // An unchanged column stays the same object, which makes comparisons cheap.
    if (isSame && !("newName" in column)) return column;
    const { newName, ...rest } = column;
    return { ...rest, name: newName ?? rest.name, type: isSame ? rest.type : withChildColumns(rest.type, after) };
  });
  // Only renamed columns are checked: a table that another program created may already have such names.
  const renamed = columns.findIndex(
    ({ newName }, index) => newName !== undefined && twinOf(settled, index) !== undefined,
  );
  if (renamed !== -1)
    throw new MigrateError("ERR_COLUMN_DUPLICATE", {
      table: place,
      name: settled[renamed]!.name,
      other: twinOf(settled, renamed)!.name,
    });
  return settled;
}
