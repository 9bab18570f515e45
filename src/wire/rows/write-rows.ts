/** Rows as Arrow IPC. */
import type { Column } from "../../schema/data-type.ts";
import { valueIn, type RowValues } from "../../schema/row-values.ts";
import type { ArrowMetadata } from "../arrow/arrow-field.ts";
import { schemaMessage } from "../arrow/arrow-schema.ts";
import { fileEnd, fileStart } from "../arrow/ipc-footer.ts";
import { endOfStream, readMessages, type IpcMessage } from "../arrow/ipc-messages.ts";
import { batchOf } from "../arrow/record-batch.ts";
import { encodeRows } from "../values/encode.ts";

export interface RowsFormat {
  /** Of the schema. */
  readonly metadata?: ArrowMetadata | undefined;
  /** The column whose values are unique. */
  readonly key?: string | undefined;
  /** Of columns, by name. */
  readonly fields?: Readonly<Record<string, ArrowMetadata>> | undefined;
}

/** Marks a column as the engine's primary key: a merge then inserts a row only if its key does not exist yet. */
const keyMark = { "lance-schema:unenforced-primary-key": "true" };

/** The given columns of the rows, as a stream of one batch, which may be empty. */
export function rowsToIpc(columns: readonly Column[], rows: readonly RowValues[], format: RowsFormat = {}): Buffer {
  return concatenated([schemaOf(columns, format)], batchOf(rows.length, encodeRows(columns, rows)), [endOfStream]);
}

/** The same as a file, the form that the engine's native binding takes. */
export function rowsToIpcFile(columns: readonly Column[], rows: readonly RowValues[], format: RowsFormat = {}): Buffer {
  const [schema] = readMessages(schemaOf(columns, format)) as readonly [IpcMessage];
  const batch = batchOf(rows.length, encodeRows(columns, rows));
  const bodyLength = batch.slice(1).reduce((sum, { length }) => sum + length, 0);
  const messages = [schema, { kind: "batch", metadataLength: batch[0]!.length, bodyLength }] as const;
  return concatenated([fileStart, schema.bytes], batch, fileEnd(schema, messages));
}

/** Frees what is between the ends. */
function concatenated(start: readonly Buffer[], encoded: readonly Buffer[], end: readonly Buffer[]): Buffer {
  const all = Buffer.concat([...start, ...encoded, ...end]);
  for (const one of encoded) free(one);
  return all;
}

/**
 * Frees memory that nothing uses any more, unless it belongs to something larger. If millions of vectors are written, the
 * garbage collector would run again and again, or leave hundreds of megabytes.
 */
export function free({ buffer, length }: Buffer): void {
  if (length > 2 ** 16 && buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}

/** The columns for which some row has a value. A merge itself fills the other columns with nulls. */
export function givenColumns(columns: readonly Column[], rows: readonly RowValues[]): readonly Column[] {
  return columns.filter(({ name }) => rows.some((row) => valueIn(row, name) !== null));
}

/** The messages of schemas by key. A ledger's is needed for each of its records. */
const schemas = new WeakMap<readonly Column[], Map<string | undefined, Buffer>>();

function schemaOf(columns: readonly Column[], { metadata, key, fields }: RowsFormat): Buffer {
  const marks = key === undefined ? {} : { [key]: keyMark };
  if (metadata !== undefined || fields !== undefined)
    return schemaMessage(columns, metadata ?? {}, { ...fields, ...marks });
  const known = schemas.get(columns) ?? new Map<string | undefined, Buffer>();
  schemas.set(columns, known);
  const message = known.get(key) ?? schemaMessage(columns, {}, marks);
  known.set(key, message);
  return message;
}
