/** The record batch without rows that some services require after a schema before they create a table. */
import { FieldNode } from "apache-arrow/fb/field-node";
import { Buffer as BufferPlace } from "apache-arrow/fb/buffer";
import { Message } from "apache-arrow/fb/message";
import { MessageHeader } from "apache-arrow/fb/message-header";
import { MetadataVersion } from "apache-arrow/fb/metadata-version";
import { RecordBatch } from "apache-arrow/fb/record-batch";
import { Builder } from "flatbuffers";
import { typesWithin, type Column, type DataType } from "../../schema/data-type.ts";

/** The message without its frame; undefined if there is a dictionary, which must be sent first. */
export function emptyBatch(columns: readonly Column[]): Uint8Array | undefined {
  const types = columns.flatMap(({ type }) => typesWithin(type));
  if (types.some(({ kind }) => kind === "dictionary")) return undefined;
  const buffers = types.reduce((sum, type) => sum + buffersOf(type), 0);
  const builder = new Builder();
  RecordBatch.startNodesVector(builder, types.length);
  for (const _ of types) FieldNode.createFieldNode(builder, 0n, 0n);
  const nodes = builder.endVector();
  RecordBatch.startBuffersVector(builder, buffers);
  for (let index = 0; index < buffers; index++) BufferPlace.createBuffer(builder, 0n, 0n);
  const places = builder.endVector();
  RecordBatch.startRecordBatch(builder);
  RecordBatch.addLength(builder, 0n);
  RecordBatch.addNodes(builder, nodes);
  RecordBatch.addBuffers(builder, places);
  const batch = RecordBatch.endRecordBatch(builder);
  Message.finishMessageBuffer(
    builder,
    Message.createMessage(builder, MetadataVersion.V5, MessageHeader.RecordBatch, batch, 0n, 0),
  );
  return builder.asUint8Array();
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
