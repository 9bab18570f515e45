/** Declaring the tables that an application wants, for `schema.ts`. What these make is plain data; it is checked when it is loaded. */
import { columnsOf } from "./type-builders.ts";
import type { ColumnType, Fields } from "../typed/shape.ts";
import type { Column } from "../data-type.ts";
import type { IndexType } from "../table-index.ts";

export interface DeclaredIndex {
  /** A column, or a path. */
  readonly on: string;
  readonly type: IndexType;
  /** That of the column and `_idx` when absent. */
  readonly name?: string | undefined;
}

export interface DeclaredTable {
  readonly columns: readonly Column[];
  /** All that there should be; none of them is looked at when absent. */
  readonly indexes?: readonly DeclaredIndex[] | undefined;
  /** Of the schema; not compared when absent. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface DeclaredSchema {
  readonly tables: readonly (readonly [name: string, table: DeclaredTable])[];
}

/**
 * A table with its indexes, and the metadata of its schema.
 *
 * @example
 * table({ id: int64().notNull(), title: utf8() }, { indexes: [{ on: "id", type: btree() }] })
 */
export function table(columns: Fields, options: Pick<DeclaredTable, "indexes" | "metadata"> = {}): DeclaredTable {
  return { columns: columnsOf(columns), ...options };
}

/**
 * The tables that an application wants, from which `migrate generate` writes migrations.
 *
 * @example
 * export default defineSchema({ documents: { id: int64().notNull(), title: utf8() } });
 */
export function defineSchema(tables: Readonly<Record<string, Fields | DeclaredTable>>): DeclaredSchema {
  return { tables: Object.entries(tables).map(([name, one]) => [name, isTable(one) ? one : table(one)]) };
}

/** A column called columns is a type, and no list. */
function isTable(one: Fields | DeclaredTable): one is DeclaredTable {
  const { columns } = (one ?? {}) as { readonly columns?: readonly Column[] | ColumnType };
  return Array.isArray(columns);
}
