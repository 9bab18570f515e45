/** What saved rows lack: the values of columns that only migrations write. */
import type { Table } from "@lancedb/lancedb";
import type { SeenColumn } from "./column-model.ts";

/** As in `actions/rewrite/prepared-columns.ts`, which an application does not load. */
const hidden = "_lance_migrate_";
const keptMark = `${hidden}kept_`;
const next = `${hidden}next_`;
const mark = `${hidden}source_`;

/** How many keys are in one query. */
const mostKeys = 1_000;

/** Types whose values the client writes as it has read them: numbers, texts, and lists of them. */
const plainType = /^((FixedSizeList\[\d+\]|List)<)?(Bool|Int\d+|Uint\d+|Float\d+|Utf8|LargeUtf8)>?$/;

type RowFields = Readonly<Record<string, unknown>>;

export interface Carried {
  /** One for each of the rows; nulls for a new row. */
  readonly values: readonly RowFields[];
  /** An SQL predicate for the rows in which no migration has written these columns since. Undefined if it does not matter. */
  readonly isSame: string | undefined;
}

/**
 * Whether a migration is computing the values of a new column, or it holds their marks. The migration computes a null again,
 * as the value of any row that was changed. Old values that a rollback brings back have marks too, and must be kept.
 */
function isPrepared(column: string, all: readonly string[]): boolean {
  if (column.startsWith(mark)) return all.includes(`${next}${column.slice(mark.length)}`);
  return column.startsWith(next);
}

/**
 * The values of these columns that the rows get: those that they have in the table, or null in columns that are being
 * prepared. Undefined if others than migrations may change the columns, or if the values can't be looked up: the key holds
 * neither integers nor texts, several rows have it, or the client would change a value.
 */
export async function carriedValues(
  table: Table,
  schema: SeenColumn["schema"],
  columns: readonly string[],
  rows: readonly object[],
  key: string,
): Promise<Carried | undefined> {
  const typeOf = (name: string) => String(schema.fields.find((field) => field.name === name)?.type);
  const kept = columns.filter((name) => !isPrepared(name, columns));
  const none = Object.fromEntries(columns.map((name) => [name, null]));
  if (kept.length === 0) return { values: rows.map(() => none), isSame: undefined };
  const areOfMigrations = kept.every((name) => name.startsWith(hidden) || schema.names.includes(`${keptMark}${name}`));
  if (!areOfMigrations || !kept.every((name) => plainType.test(typeOf(name)))) return undefined;
  const keys = rows.map((row) => (row as RowFields)[key]);
  const literals = new Map(keys.map((one) => [String(one), literalOf(one, typeOf(key))]));
  if ([...literals.values()].includes(undefined)) return undefined;
  const found = new Map<string, RowFields>();
  for (let first = 0; first < literals.size; first += mostKeys) {
    const some = [...literals.values()].slice(first, first + mostKeys);
    const query = table.query().where(`\`${key}\` in (${some.join(", ")})`);
    const selected = query.select([key, ...kept]).limit(some.length + 1);
    for (const row of (await selected.toArray()) as readonly RowFields[]) {
      const own = String(row[key]);
      if (found.has(own)) return undefined;
      found.set(own, { ...none, ...Object.fromEntries(kept.map((name) => [name, plain(row[name])])) });
    }
  }
  const isSame = kept.map((name) => (typeOf(name) === "Utf8" ? isSameValue(name) : isSamePresence(name)));
  return { values: keys.map((one) => found.get(String(one)) ?? none), isSame: isSame.join(" and ") };
}

/** Whether the row in the table has the value of the saved row. The engine knows no `is not distinct from` here. */
export function isSameValue(name: string): string {
  const [target, source] = [`target.\`${name}\``, `source.\`${name}\``];
  return `(${target} = ${source} or (${target} is null and ${source} is null))`;
}

/** Each value that a migration writes has a mark, a text that changes with it. A value that is removed may keep it. */
function isSamePresence(name: string): string {
  return `((target.\`${name}\` is null) = (source.\`${name}\` is null))`;
}

/** The engine reads it in SQL as the negation of a number that 64 bits don't hold. */
const leastInteger = -(2n ** 63n);

/** The SQL of a key of this type. */
function literalOf(key: unknown, type: string): string | undefined {
  if (type.endsWith("Utf8")) return typeof key === "string" ? `'${key.replaceAll("'", "''")}'` : undefined;
  const isInteger = typeof key === "bigint" ? key > leastInteger : Number.isSafeInteger(key);
  return isInteger && /^U?int\d+$/i.test(type) ? String(key) : undefined;
}

/** A vector as its numbers: those of 16 bits would be written as the integers that store them. */
function plain(value: unknown): unknown {
  return typeof value === "object" && value !== null && Symbol.iterator in value
    ? [...(value as Iterable<unknown>)]
    : (value ?? null);
}
