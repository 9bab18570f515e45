/** What saved rows lack: the values of columns that only migrations write. */
import type { Table } from "@lancedb/lancedb";
import type { SeenColumn } from "./column-model.ts";

/** As in `actions/rewrite/prepared-columns.ts`, which an application does not load. */
const hidden = "_lance_migrate_";
const keptMark = `${hidden}kept_`;

/** How many keys are in one query. */
const mostKeys = 1_000;

/** Types whose values the client writes as it has read them: numbers, texts, and lists of them. */
const plainType = /^((FixedSizeList\[\d+\]|List)<)?(Bool|Int\d+|Uint\d+|Float\d+|Utf8|LargeUtf8)>?$/;

type RowFields = Readonly<Record<string, unknown>>;

export interface Carried {
  /** One for each of the rows; nulls for a new row. */
  readonly values: readonly RowFields[];
  /** An SQL predicate for the rows in which no migration has written these columns since. */
  readonly isSame: string;
}

/** Whether only migrations write these columns of a table: they are hidden, or kept for a rollback. */
function areOfMigrations(columns: readonly string[], all: readonly string[]): boolean {
  return columns.every((name) => name.startsWith(hidden) || all.includes(`${keptMark}${name}`));
}

/**
 * The values of these columns that the rows have in the table. Undefined if others may change them, or if they can't be
 * looked up: the key holds neither integers nor texts, several rows have it, or the client would change a value.
 */
export async function carriedValues(
  table: Table,
  schema: SeenColumn["schema"],
  columns: readonly string[],
  rows: readonly object[],
  key: string,
): Promise<Carried | undefined> {
  const typeOf = (name: string) => String(schema.fields.find((field) => field.name === name)?.type);
  if (!areOfMigrations(columns, schema.names.map(String))) return undefined;
  if (!columns.every((name) => plainType.test(typeOf(name)))) return undefined;
  const keys = rows.map((row) => (row as RowFields)[key]);
  const literals = new Map(keys.map((one) => [String(one), literalOf(one, typeOf(key))]));
  if ([...literals.values()].includes(undefined)) return undefined;
  const found = new Map<string, RowFields>();
  for (let next = 0; next < literals.size; next += mostKeys) {
    const some = [...literals.values()].slice(next, next + mostKeys);
    const query = table.query().where(`\`${key}\` in (${some.join(", ")})`);
    const selected = query.select([key, ...columns]).limit(some.length + 1);
    for (const row of (await selected.toArray()) as readonly RowFields[]) {
      const own = String(row[key]);
      if (found.has(own)) return undefined;
      found.set(own, Object.fromEntries(columns.map((name) => [name, plain(row[name])])));
    }
  }
  const none = Object.fromEntries(columns.map((name) => [name, null]));
  const isSame = columns.map((name) => (typeOf(name) === "Utf8" ? isSameValue(name) : isSamePresence(name)));
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

/** The SQL of a key of this type. */
function literalOf(key: unknown, type: string): string | undefined {
  if (type.endsWith("Utf8")) return typeof key === "string" ? `'${key.replaceAll("'", "''")}'` : undefined;
  const isInteger = typeof key === "bigint" || Number.isSafeInteger(key);
  return isInteger && /^U?int\d+$/i.test(type) ? String(key) : undefined;
}

/** A vector as its numbers: those of 16 bits would be written as the integers that store them. */
function plain(value: unknown): unknown {
  return typeof value === "object" && value !== null && Symbol.iterator in value
    ? [...(value as Iterable<unknown>)]
    : (value ?? null);
}
