/**
 * Deferred indexes: those that can't be created yet, because their table holds too few vectors or no value for them. A mark in the
 * metadata of the column states which index belongs there. It follows the column when that is renamed, and goes with it
 * when it is dropped. A mark whose index exists has no meaning. Pure.
 */
import { withChildColumns, childColumns, type Column } from "./data-type.ts";
import { formatPath, parsePath } from "./path.ts";
import { columnsWithin, type Table } from "./table.ts";
import { waitsForValues, type FoundIndex, type TableIndex } from "./table-index.ts";

/** What keys of marks begin with; the name of the index follows. */
const prefix = "lance_migrate_deferred.";

/** Marked indexes, by name. */
export type DeferralMarks = Readonly<Record<string, TableIndex>>;

export function isDeferralMark(key: string): boolean {
  return key.startsWith(prefix);
}

/** The metadata update that marks an index as deferred. */
export function markDeferred(name: string, { path, kind, options }: TableIndex) {
  return { path, metadata: { [prefix + name]: JSON.stringify({ kind, options }) } };
}

/** The metadata update that removes the mark of an index. */
export function unmarkDeferred(name: string, { path }: Pick<TableIndex, "path">) {
  return { path, metadata: { [prefix + name]: null } };
}

export function deferralMarks(columns: readonly Column[]): DeferralMarks {
  if (!columns.some(isMarked)) return {};
  const marks = columnsWithin(columns).flatMap(({ path, column }) =>
    Object.entries(column.metadata ?? {}).flatMap(([key, value]) => {
      const index = isDeferralMark(key) && value !== null ? parseMark(formatPath(path), value) : undefined;
      return index === undefined ? [] : [[key.slice(prefix.length), index] as const];
    }),
  );
  return Object.fromEntries(marks);
}

/** The table with the indexes that are deferred, and without their marks. */
export function withDeferred(table: Table): Table {
  const { columns, indexes } = table;
  if (!columns.some(isMarked)) return table;
  const plain = { ...table, columns: columns.map(withoutMarks) };
  if (indexes === undefined) return plain;
  const deferred = Object.entries(deferralMarks(columns)).filter(([name]) => (indexes[name] ?? null) === null);
  if (deferred.length === 0) return plain;
  return {
    ...plain,
    indexes: { ...indexes, ...Object.fromEntries(deferred) },
    deferred: deferred.map(([name]) => name),
  };
}

/** A deferred index, and how many vectors its table holds: `vectors` of the `needed` ones. */
export interface DeferredIndex {
  readonly table: string;
  readonly name: string;
  readonly index: TableIndex;
  readonly vectors: number;
  readonly needed: number;
}

/** The deferred indexes of a described table, by name. */
export function deferredOf({ deferred = [], indexes = {} }: Table): readonly (readonly [string, TableIndex])[] {
  // Their marks state kinds that can be created.
  return deferred.map((name) => [name, indexes[name] as FoundIndex as TableIndex] as const);
}

function isMarked(column: Column): boolean {
  return Object.keys(column.metadata ?? {}).some(isDeferralMark) || childColumns(column.type).some(isMarked);
}

function withoutMarks(column: Column): Column {
  if (!isMarked(column)) return column;
  const { metadata = {}, type } = column;
  const kept = Object.entries(metadata).filter(([key]) => !isDeferralMark(key));
  return {
    ...column,
    type: withChildColumns(type, childColumns(type).map(withoutMarks)),
    metadata: Object.fromEntries(kept),
  };
}

/** Undefined if no run has written it. */
function parseMark(path: string, text: string): TableIndex | undefined {
  try {
    const { kind, options } = JSON.parse(text) as Partial<TableIndex>;
    const isWhole =
      kind !== undefined && waitsForValues({ kind, path }) && typeof options === "object" && options !== null;
    return isWhole ? { path: formatPath(parsePath(path)), kind, options } : undefined;
  } catch {
    return undefined;
  }
}
