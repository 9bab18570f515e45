/** The message of a record batch (https://arrow.apache.org/docs/format/Columnar.html#recordbatch-message). */
import { FieldNode } from "apache-arrow/fb/field-node";
import { Buffer as BufferPlace } from "apache-arrow/fb/buffer";
import { Message } from "apache-arrow/fb/message";
import { MessageHeader } from "apache-arrow/fb/message-header";
import { MetadataVersion } from "apache-arrow/fb/metadata-version";
import { RecordBatch } from "apache-arrow/fb/record-batch";
import { Builder } from "flatbuffers";
import { typesWithin, type Column, type DataType } from "../../schema/data-type.ts";

export interface BatchDescription {
  /** The number of rows. */
  readonly length: number;
  /** For each column and its children: how many of its values are null. */
  readonly nulls: readonly number[];
  /** For each buffer: its place in the body, in bytes. */
  readonly buffers: readonly { readonly offset: number; readonly length: number }[];
  readonly bodyLength: number;
}

/** The metadata of the message, without its frame and its body. */
export function batchMessage({ length, nulls, buffers, bodyLength }: BatchDescription): Uint8Array {
  const builder = new Builder();
  const count = BigInt(length);
  // A vector of structs is written from its end.
  RecordBatch.startNodesVector(builder, nulls.length);
  for (const one of nulls.toReversed()) FieldNode.createFieldNode(builder, count, BigInt(one));
  const nodes = builder.endVector();
  RecordBatch.startBuffersVector(builder, buffers.length);
  for (const one of buffers.toReversed()) BufferPlace.createBuffer(builder, BigInt(one.offset), BigInt(one.length));
  const places = builder.endVector();
  RecordBatch.startRecordBatch(builder);
  RecordBatch.addLength(builder, count);
  RecordBatch.addNodes(builder, nodes);
  RecordBatch.addBuffers(builder, places);
  const batch = RecordBatch.endRecordBatch(builder);
  Message.finishMessageBuffer(
    builder,
    Message.createMessage(builder, MetadataVersion.V5, MessageHeader.RecordBatch, batch, BigInt(bodyLength), 0),
  );
  return builder.asUint8Array();
}

/**
 * The record batch without rows that some services require after a schema before they create a table; undefined if there
 * is a dictionary, which must be sent first.
 */
export function emptyBatch(columns: readonly Column[]): Uint8Array | undefined {
  const types = columns.flatMap(({ type }) => typesWithin(type));
  if (types.some(({ kind }) => kind === "dictionary")) return undefined;
  const count = types.reduce((sum, type) => sum + buffersOf(type), 0);
  const buffers = Array.from({ length: count }, () => ({ offset: 0, length: 0 }));
  return batchMessage({ length: 0, nulls: types.map(() => 0), buffers, bodyLength: 0 });
}

/** https://arrow.apache.org/docs/format/Columnar.html#buffer-listing-for-each-layout */
function buffersOf({ kind }: DataType): number {
  switch (kind) {
    case "null":
      return 0;
    case "struct":
    case "fixedSizeList":
      return 1;
    case "utf8":
    case "largeUtf8":
    case "binary":
    case "largeBinary":
      return 3;
    default:
      return 2;
  }
}
