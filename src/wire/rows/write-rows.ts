/** Rows as Arrow IPC. */
import type { Column } from "../../schema/data-type.ts";
import { valueIn, type RowValues } from "../../schema/row-values.ts";
import type { Metadata } from "../arrow/arrow-field.ts";
import { schemaMessage } from "../arrow/arrow-schema.ts";
import { fileOf } from "../arrow/ipc-footer.ts";
import { endOfStream, readMessages } from "../arrow/ipc-messages.ts";
import { batchOf } from "../arrow/record-batch.ts";
import { encodeRows } from "../values/encode.ts";

export interface RowsFormat {
  /** Of the schema. */
  readonly metadata?: Metadata | undefined;
  /** The column whose values are unique. */
  readonly key?: string | undefined;
}

/** Marks a column as the engine's primary key: a merge then inserts a row only if its key does not exist yet. */
const keyMark = { "lance-schema:unenforced-primary-key": "true" };

/** The given columns of the rows, as a stream of one batch, which may be empty. */
export function rowsToIpc(columns: readonly Column[], rows: readonly RowValues[], format: RowsFormat = {}): Buffer {
  const batch = batchOf(rows.length, encodeRows(columns, rows));
  return Buffer.concat([schemaOf(columns, format), ...batch, endOfStream]);
}

/** The same as a file, the form that the engine's native binding takes. */
export function rowsToIpcFile(columns: readonly Column[], rows: readonly RowValues[], format?: RowsFormat): Buffer {
  return fileOf(readMessages(rowsToIpc(columns, rows, format)));
}

/** The columns for which some row has a value. A merge itself fills the other columns with nulls. */
export function givenColumns(columns: readonly Column[], rows: readonly RowValues[]): readonly Column[] {
  return columns.filter(({ name }) => rows.some((row) => valueIn(row, name) !== null));
}

/** The messages of schemas by key. A ledger's is needed for each of its records. */
const schemas = new WeakMap<readonly Column[], Map<string | undefined, Buffer>>();

function schemaOf(columns: readonly Column[], { metadata, key }: RowsFormat): Buffer {
  const marks = key === undefined ? {} : { [key]: keyMark };
  if (metadata !== undefined) return schemaMessage(columns, metadata, marks);
  const known = schemas.get(columns) ?? new Map<string | undefined, Buffer>();
  schemas.set(columns, known);
  const message = known.get(key) ?? schemaMessage(columns, {}, marks);
  known.set(key, message);
  return message;
}
