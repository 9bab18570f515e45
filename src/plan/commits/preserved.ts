/** The indexes and metadata that the ledger keeps while an action of several commits runs. Pure. */
import type { Action } from "../../actions/model/action.ts";
import type { Preserved } from "../../ledger/state/record.ts";
import type { Column } from "../../schema/data-type.ts";
import { knownMetadata } from "../../schema/metadata.ts";
import { canonicalJson } from "../../migrations/checksum.ts";
import { parsePath } from "../../schema/path.ts";
import { sameIndex, type FoundIndex } from "../../schema/table-index.ts";
import { findColumn, replaceColumn, type Table, type Tables } from "../../schema/table.ts";

/**
 * The indexes and metadata that a table loses when columns are rewritten, and that must be put back; undefined if there
 * are none.
 */
export function toKeep({ columns, indexes = {} }: Table, rewritten: ReadonlySet<string>): Preserved | undefined {
  const metadata = knownMetadata(columns.filter(({ name }) => rewritten.has(name)));
  const there = Object.entries(indexes).filter(
    ([, index]) => index !== null && rewritten.has(parsePath(index.path)[0]!),
  );
  if (metadata.length === 0 && there.length === 0) return undefined;
  return {
    indexes: Object.fromEntries(there) as Preserved["indexes"],
    metadata: Object.fromEntries(metadata),
  };
}

/**
 * Like `toKeep`, for an action that already keeps something: the current table takes precedence. `dropped`: the indexes
 * that the action itself drops one by one, so that only the ledger still knows them.
 */
export function stillToKeep(
  table: Table,
  rewritten: ReadonlySet<string>,
  { indexes, metadata }: Preserved,
  dropped: ReadonlySet<string>,
): Preserved {
  // Hidden columns have other names, so what was kept before stays.
  if (![...rewritten].every((name) => findColumn(table.columns, [name]) !== undefined)) return { indexes, metadata };
  const now = toKeep(table, rewritten) ?? nothing;
  const taken = Object.entries(indexes).filter(([name]) => dropped.has(name));
  return { indexes: { ...Object.fromEntries(taken), ...now.indexes }, metadata: now.metadata };
}

export function sameKept(one: Preserved, other: Preserved): boolean {
  const keptOf = ({ indexes, metadata }: Preserved) => canonicalJson({ indexes, metadata });
  return keptOf(one) === keptOf(other);
}

const nothing: Preserved = { indexes: {}, metadata: {} };

/** Adds what was kept to the action's own table. */
export function withKept(before: Tables, { table: name }: Action, kept: Preserved | undefined): Tables {
  const table = before.get(name);
  return table === undefined || kept === undefined ? before : new Map([...before, [name, knowing(table, kept)]]);
}

/** Leaves out what was kept of columns that no longer exist. */
export function stillKept({ columns }: Table, { indexes, metadata }: Preserved): Preserved {
  const isThere = (path: string) => findColumn(columns, parsePath(path)) !== undefined;
  return {
    indexes: Object.fromEntries(Object.entries(indexes).filter(([, { path }]) => isThere(path))),
    metadata: Object.fromEntries(Object.entries(metadata).filter(([path]) => isThere(path))),
  };
}

/** The table as migrations know it, plus the indexes and metadata that it was found with. */
export function asSeen(table: Table, seen: Table): Table {
  const kept = toKeep(seen, new Set(seen.columns.map(({ name }) => name))) ?? nothing;
  return seen.indexes === undefined ? table : knowing(table, kept);
}

/** Indexes by their names, and metadata by the paths of columns; null for what is known to be absent. */
export interface Known {
  readonly indexes: NonNullable<Table["indexes"]>;
  readonly metadata: Readonly<Record<string, NonNullable<Column["metadata"]>>>;
}

/** Adds indexes and metadata to what is known of a table. */
export function knowing(table: Table, kept: Known): Table {
  const columns = Object.entries(kept.metadata).reduce(
    (all, [path, metadata]) =>
      replaceColumn(all, parsePath(path), (column) => ({ ...column, metadata: { ...metadata, ...column.metadata } })),
    table.columns,
  );
  const indexes = Object.entries(table.indexes ?? {}).map(([name, index]) => [name, asTold(index, kept.indexes[name])]);
  return { ...table, columns, indexes: { ...kept.indexes, ...Object.fromEntries(indexes) } };
}

/**
 * Another program may have recreated the index with other parameters. Those that a table does not report are known only
 * from migrations.
 */
function asTold(index: FoundIndex | null, seen: FoundIndex | null = null): FoundIndex | null {
  if (index === null || seen === null || !sameIndex(index, seen)) return index;
  const { stuck } = seen;
  return { ...index, options: { ...index.options, ...seen.options }, ...(stuck !== undefined && { stuck }) };
}
