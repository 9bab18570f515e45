/**
 * Converts columns to an Arrow schema message and back. apache-arrow 18 has no class for large_list and can't read a
 * schema that contains one, so this file uses its generated flatbuffer accessors, which know every type of the format
 * (https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc).
 */
import { Message } from "apache-arrow/fb/message";
import { MessageHeader } from "apache-arrow/fb/message-header";
import { MetadataVersion } from "apache-arrow/fb/metadata-version";
import { Schema } from "apache-arrow/fb/schema";
import { Builder, ByteBuffer, type Offset } from "flatbuffers";
import { MigrateError } from "../../errors/migrate-error.ts";
import { emptyBatch } from "./record-batch.ts";
import type { Column } from "../../schema/data-type.ts";
import { metadataOf, toColumn, writeField, writeMetadata, type ArrowMetadata } from "./arrow-field.ts";
import { fileOf, footerOf } from "./ipc-footer.ts";
import { checkSchema, continuation, endOfStream, framed, invalid, isIpcFile, readMessages } from "./ipc-messages.ts";

/** An Arrow IPC stream without rows: the schema, an empty batch (none if there is a dictionary) and the end mark. */
export function toIpcStream(columns: readonly Column[], metadata: ArrowMetadata = {}): Buffer {
  return Buffer.concat([schemaMessage(columns, metadata), ...(emptyBatch(columns) ?? []), endOfStream]);
}

/** An Arrow IPC file without rows, the form that the engine's native binding takes. */
export function toIpcFile(columns: readonly Column[], metadata: ArrowMetadata = {}): Buffer {
  return fileOf(readMessages(schemaMessage(columns, metadata)));
}

/** The columns of an Arrow IPC file or stream that came over HTTP. Throws ERR_ARROW_INVALID. Reads only the schema. */
export function fromIpc(bytes: Buffer): readonly Column[] {
  // On data that is too short, the accessors read past its end, and sometimes throw.
  try {
    const schema = schemaIn(bytes);
    checkSchema(schema);
    return columnsOf(schema);
  } catch (cause) {
    throw cause instanceof MigrateError ? cause : invalid("has a schema that can't be read", cause);
  }
}

/** The columns and the metadata of a file that the engine has written. */
export function tableFromIpc(bytes: Buffer): { readonly columns: readonly Column[]; readonly metadata: ArrowMetadata } {
  const schema = schemaIn(bytes);
  return { columns: columnsOf(schema), metadata: metadataOf(schema) };
}

function columnsOf(schema: Schema): readonly Column[] {
  return Array.from({ length: schema.fieldsLength() }, (_, index) => toColumn(schema.fields(index)!));
}

function schemaIn(bytes: Buffer): Schema {
  return isIpcFile(bytes) ? footerOf(bytes).schema()! : schemaOfStream(bytes);
}

function schemaOfStream(bytes: Buffer): Schema {
  // Streams written before Arrow 0.15 lack the continuation mark.
  const at = bytes.readUInt32LE(0) === continuation ? 4 : 0;
  const message = bytes.subarray(at + 4, at + 4 + bytes.readInt32LE(at));
  return Message.getRootAsMessage(new ByteBuffer(message)).header(new Schema()) as Schema;
}

/** `fields`: the metadata of columns by name. */
export function schemaMessage(
  columns: readonly Column[],
  metadata: ArrowMetadata,
  fields: Readonly<Record<string, ArrowMetadata>> = {},
): Buffer {
  const builder = new Builder();
  const schema = writeSchema(builder, columns, metadata, fields);
  Message.finishMessageBuffer(
    builder,
    Message.createMessage(builder, MetadataVersion.V5, MessageHeader.Schema, schema, 0n, 0),
  );
  return framed(builder.asUint8Array());
}

function writeSchema(
  builder: Builder,
  columns: readonly Column[],
  metadata: ArrowMetadata,
  ofFields: Readonly<Record<string, ArrowMetadata>>,
): Offset {
  // Every dictionary of a schema needs an id of its own.
  const dictionaries = { next: 0n };
  const fields = Schema.createFieldsVector(
    builder,
    columns.map((column) => writeField(builder, column, dictionaries, ofFields[column.name])),
  );
  return Schema.createSchema(builder, 0, fields, writeMetadata(builder, metadata), 0);
}
