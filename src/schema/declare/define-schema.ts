/**
 * Declares the tables that an application wants, for `schema.ts`. The result is plain data; it is checked when it is
 * loaded.
 */
import { columnsOf } from "./type-builders.ts";
import type { ColumnType, Fields } from "../typed/shape.ts";
import type { Column } from "../data-type.ts";
import type { IndexType } from "../table-index.ts";

export interface DeclaredIndex {
  /** The name or the path of a column. */
  readonly on: string;
  readonly type: IndexType;
  /** When absent, the path with `_` for dots, and `_idx`. */
  readonly name?: string | undefined;
}

export interface DeclaredTable {
  readonly columns: readonly Column[];
  /** All indexes that the table should have; not compared when absent. */
  readonly indexes?: readonly DeclaredIndex[] | undefined;
  /** The metadata of the schema; not compared when absent. */
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
  if (Array.isArray(tables))
    throw new TypeError(
      "defineSchema takes an object of tables by their names, such as { documents: { … } }, not a list",
    );
  return { tables: Object.entries(tables).map(([name, one]) => [name, isTable(one) ? one : table(one)]) };
}

/** Tells fields from a table. In fields, `columns` is a column with that name and so a type, not an array. */
function isTable(one: Fields | DeclaredTable): one is DeclaredTable {
  const { columns } = (one ?? {}) as { readonly columns?: readonly Column[] | ColumnType };
  return Array.isArray(columns);
}
