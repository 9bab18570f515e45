/** The model of tables and of the database to which actions are applied. */
import { MigrateError } from "../errors/migrate-error.ts";
import {
  childColumns,
  formatType,
  ownValue,
  sameColumn,
  sameColumns,
  typesWithin,
  wasDeclaredAs,
  withChildColumns,
  type Column,
} from "./data-type.ts";
import { columnNameProblem, similarName } from "./names.ts";
import { formatPath, isWithin, parsePath, type Path } from "./path.ts";
import { formatIndex, sameIndex, type FoundIndex } from "./table-index.ts";

export interface Table {
  readonly columns: readonly Column[];
  /** The known indexes by name; null for one that is known to be absent. */
  readonly indexes?: Readonly<Record<string, FoundIndex | null>> | undefined;
  /** Of a described table: the names of those of its indexes that are deferred (`deferred-index.ts`), if there are any. */
  readonly deferred?: readonly string[] | undefined;
  /** Of a described table: the old columns for whose sake others are watched (`watched-columns.ts`), if there are any. */
  readonly watched?: readonly string[] | undefined;
  /**
   * The metadata of the schema: for an expected table what migrations have set, for a described table all of it. Absent
   * if it is unknown.
   */
  readonly metadata?: Readonly<Record<string, string | null>> | undefined;
}

/** Tables by name. */
export type Database = ReadonlyMap<string, Table>;

/** The table of that name. Throws ERR_TABLE_MISSING. */
export function getTable(database: Database, name: string): Table {
  const table = database.get(name);
  if (table === undefined)
    throw new MigrateError("ERR_TABLE_MISSING", { table: name, similar: similarName(name, database.keys()) });
  return table;
}

/** Whether a table is as expected. Indexes and metadata that `expected` does not mention are ignored. */
export function sameTable(expected: Table | undefined, found: Table | undefined): boolean {
  if (expected === undefined || found === undefined) return expected === found;
  return (
    expected === found ||
    // Often asked, mostly of tables that differ: the words for that would take most of the time.
    (sameColumns(expected.columns, found.columns) &&
      indexDifferences(expected, found).length === 0 &&
      schemaMetadataDifferences(expected, found).length === 0)
  );
}

/** The table with the indexes on a dropped column, or on one inside it, marked as absent. */
export function withoutIndexesOn(table: Table, path: Path): Table {
  if (table.indexes === undefined) return table;
  const left = Object.entries(table.indexes).map(([name, index]) => {
    const on = index === null ? [] : parsePath(index.path);
    return [name, isWithin(on, path) ? null : index] as const;
  });
  return { ...table, indexes: Object.fromEntries(left) };
}

/** Tables by name; undefined for one that does not exist. */
export type Tables = ReadonlyMap<string, Table | undefined>;

/** The tables that exist. */
export function databaseOf(tables: Tables): Map<string, Table> {
  return new Map([...tables].flatMap(([name, table]) => (table === undefined ? [] : [[name, table] as const])));
}

/** Whether each of these tables is as expected. */
export function sameTables(expected: Tables, found: Tables): boolean {
  return [...expected].every(([name, table]) => sameTable(table, found.get(name)));
}

/**
 * Whether tables in two states might be indistinguishable: indexes and metadata that one state leaves open may exist.
 */
export function mayLookAlike(ones: Tables, others: Tables): boolean {
  return [...ones].every(([name, one]) => sameTable(one, others.get(name)) || sameTable(others.get(name), one));
}

/** Replaces tables of the database, and removes those that are undefined. */
export function change(database: Map<string, Table>, tables: Tables): void {
  for (const [name, table] of tables)
    if (table === undefined) database.delete(name);
    else database.set(name, table);
}

/** The column at a path, or undefined. */
export function findColumn(columns: readonly Column[], path: Path): Column | undefined {
  const [name, ...rest] = path;
  const column = columns.find((candidate) => candidate.name === name);
  if (column === undefined || rest.length === 0) return column;
  return findColumn(childColumns(column.type), rest);
}

/** The column at a path. Throws ERR_COLUMN_MISSING if there is none, or the engine does not accept the path. */
export function requireColumn(table: string, columns: readonly Column[], path: Path): Column {
  const around = siblings(columns, path);
  const column = around.find(({ name }) => name === path.at(-1));
  if (column !== undefined) return column;
  const has = around.map((sibling) => sibling.name);
  throw new MigrateError("ERR_COLUMN_MISSING", {
    table: path.length === 1 ? table : `${table}.${formatPath(path.slice(0, -1))}`,
    path: formatPath(path.slice(-1)),
    has,
    similar: similarName(path.at(-1)!, has),
  });
}

/** The columns that the last part of a path may name. */
function siblings(columns: readonly Column[], path: Path): readonly Column[] {
  if (path.length === 1) return columns;
  const parent = findColumn(columns, path.slice(0, -1));
  // The engine accepts the item of a fixed size list only inside a path to a field of a struct in the list.
  return parent === undefined || parent.type.kind === "fixedSizeList" ? [] : childColumns(parent.type);
}

/** The column itself or the columns inside it that hold values: all but structs, and lists with structs inside. */
export function leavesOf(
  column: Column,
  parent: Path = [],
): readonly (Pick<Column, "type"> & { readonly path: Path })[] {
  const path = [...parent, column.name];
  if (typesWithin(column.type).every(({ kind }) => kind !== "struct")) return [{ path, type: column.type }];
  return childColumns(column.type).flatMap((child) => leavesOf(child, path));
}

/** The paths of all columns and of all fields of structs that are not in a list. */
export function columnPaths(columns: readonly Column[], parent: Path = []): readonly Path[] {
  return columns.flatMap(({ name, type }) => {
    const path = [...parent, name];
    return [path, ...(type.kind === "struct" ? columnPaths(type.fields, path) : [])];
  });
}

/** All columns and what is inside them at any depth, with their paths. */
export function columnsWithin(
  columns: readonly Column[],
  parent: Path = [],
): readonly { readonly path: Path; readonly column: Column }[] {
  return columns.flatMap((column) => {
    const path = [...parent, column.name];
    return [{ path, column }, ...columnsWithin(childColumns(column.type), path)];
  });
}

/** All columns, with the one at `path` replaced. */
export function replaceColumn(
  columns: readonly Column[],
  path: Path,
  change: (column: Column) => Column,
): readonly Column[] {
  const [name, ...rest] = path;
  return columns.map((column) => {
    if (column.name !== name) return column;
    if (rest.length === 0) return change(column);
    const children = replaceColumn(childColumns(column.type), rest, change);
    return { ...column, type: withChildColumns(column.type, children) };
  });
}

/** Refuses names that the engine accepts and that break the table: invalid ones and duplicates, at any depth. */
export function checkColumns(columns: readonly Column[], place: string): void {
  const known = new Map<string, string>();
  for (const { name, type } of columns) {
    const problem = columnNameProblem(name);
    if (problem !== undefined) throw new MigrateError("ERR_COLUMN_NAME", { name, problem });
    const twin = known.get(name.toLowerCase());
    if (twin !== undefined) throw new MigrateError("ERR_COLUMN_DUPLICATE", { table: place, name, other: twin });
    known.set(name.toLowerCase(), name);
    checkColumns(childColumns(type), `${place}.${name}`);
  }
}

/** Another column whose name is the same or differs only in case. */
export function twinOf(columns: readonly Column[], index: number): Column | undefined {
  const name = columns[index]?.name.toLowerCase();
  return columns.find((column, other) => other !== index && column.name.toLowerCase() === name);
}

/** The differences between a table as expected and as found, as text. Empty exactly if `sameTable`. */
export function differences(expected: Table | undefined, found: Table | undefined): readonly string[] {
  if (expected === undefined) return found === undefined ? [] : ["it exists, but should not"];
  if (found === undefined) return ["it does not exist"];
  return [
    ...columnDifferences(expected.columns, found.columns, []),
    ...indexDifferences(expected, found),
    ...schemaMetadataDifferences(expected, found),
  ];
}

/** The expected table, with every other index and metadata key of `found` marked as absent. */
export function andNoMore(expected: Table | undefined, found: Table | undefined): Table | undefined {
  if (expected === undefined || found === undefined) return expected;
  const none = nulls(found.indexes);
  const columns = withNoMore(expected.columns, found.columns);
  const indexes = { ...none, ...expected.indexes };
  return { columns, indexes, metadata: { ...nulls(found.metadata), ...expected.metadata } };
}

/** The same keys, each marked as absent. */
export function nulls(values: object = {}): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(values).map((key) => [key, null]));
}

function withNoMore(expected: readonly Column[], found: readonly Column[]): readonly Column[] {
  return expected.map((column) => {
    const other = found.find(({ name }) => name === column.name);
    if (other === undefined) return column;
    const none = nulls(other.metadata);
    const type = withChildColumns(column.type, withNoMore(childColumns(column.type), childColumns(other.type)));
    return { ...column, type, metadata: { ...none, ...column.metadata } };
  });
}

function indexDifferences(expected: Table, found: Table): readonly string[] {
  return Object.entries(expected.indexes ?? {}).flatMap(([name, index]) => {
    const other = ownValue(found.indexes, name) ?? null;
    if (sameIndex(index, other)) return [];
    if (index === null) return [`index ${name} exists, but should not`];
    if (other === null) return [`index ${name} on ${index.path} is missing: ${formatIndex(index)}`];
    return [
      `index ${name} is ${formatIndex(other)} on ${other.path} instead of ${formatIndex(index)} on ${index.path}`,
    ];
  });
}

/** The differences in the metadata of the schema; empty if either table's metadata is unknown. */
export function schemaMetadataDifferences(expected: Table, found: Table): readonly string[] {
  if (found.metadata === undefined) return [];
  return metadataDifferences("in the schema's metadata", expected, found);
}

function metadataDifferences(
  place: string,
  expected: Pick<Column, "metadata">,
  found: Pick<Column, "metadata">,
): readonly string[] {
  return Object.entries(expected.metadata ?? {}).flatMap(([key, value]) => {
    const other = ownValue(found.metadata, key) ?? null;
    const shown = (one: string | null) => (one === null ? "not set" : JSON.stringify(one));
    return other === value ? [] : [`${key} ${place} is ${shown(other)} instead of ${shown(value)}`];
  });
}

/** Columns are compared by name and then by order. The same columns by `sameColumns` have no differences, others have. */
function columnDifferences(expected: readonly Column[], found: readonly Column[], parent: Path): readonly string[] {
  if (sameColumns(expected, found)) return [];
  const [wanted, there] = [expected, found].map((columns) => new Map(columns.map((column) => [column.name, column])));
  const words = expected.flatMap((column) => {
    const path = [...parent, column.name];
    const other = there!.get(column.name);
    if (other === undefined) return [`column ${formatPath(path)} is missing`];
    return sameColumn(column, other) ? [] : differencesInColumn(column, other, path);
  });
  for (const column of found) {
    if (wanted!.has(column.name)) continue;
    const type = `${formatType(column.type)}${column.nullable ? "" : " not null"}`;
    words.push(`column ${formatPath([...parent, column.name])} (${type}) was not expected`);
  }
  if (words.length > 0 || expected.every(({ name }, index) => name === found[index]?.name)) return words;
  const place = parent.length === 0 ? "the columns" : `the fields of ${formatPath(parent)}`;
  return [`${place} are in another order: ${names(found)} instead of ${names(expected)}`];
}

function differencesInColumn(expected: Column, found: Column, path: Path): readonly string[] {
  const column = `column ${formatPath(path)}`;
  const instead = (is: string, should: string) => `${column} is ${is} instead of ${should}`;
  const unlike = (words: (one: Column) => string) =>
    words(found) === words(expected) ? [] : [instead(words(found), words(expected))];
  const [is, should] = [formatType(found.type), formatType(expected.type)];
  const isLike = expected.type.kind === found.type.kind && (expected.type.kind === "struct" || is === should);
  return [
    ...unlike(({ nullable }) => (nullable ? "nullable" : "not null")),
    ...unlike(({ computed }) => (computed === undefined ? "not computed" : `computed from ${computed}`)),
    ...metadataDifferences(`of ${column}`, expected, found),
    // A list's type as text lacks the name and the metadata of what is inside it.
    ...(isLike || wasDeclaredAs(expected.type, found.type)
      ? columnDifferences(childColumns(expected.type), childColumns(found.type), path)
      : [instead(is, should)]),
  ];
}

function names(columns: readonly Column[]): string {
  return columns.map((column) => column.name).join(", ");
}
