/** The message of a record batch (https://arrow.apache.org/docs/format/Columnar.html#recordbatch-message). */
import { FieldNode } from "apache-arrow/fb/field-node";
import { Buffer as BufferPlace } from "apache-arrow/fb/buffer";
import { Message } from "apache-arrow/fb/message";
import { MessageHeader } from "apache-arrow/fb/message-header";
import { MetadataVersion } from "apache-arrow/fb/metadata-version";
import { RecordBatch } from "apache-arrow/fb/record-batch";
import { Builder } from "flatbuffers";
import { typesWithin, type Column } from "../../schema/data-type.ts";
import { emptyArray, type ArrayData } from "./array-data.ts";
import { framed } from "./ipc-messages.ts";

/** The parts of a message with `length` rows: what describes it, and one buffer after the other. */
export function batchOf(length: number, columns: readonly ArrayData[]): readonly Buffer[] {
  const arrays = columns.flatMap(withChildren);
  const buffers = arrays.flatMap((one) => (one.type.kind === "null" ? [] : [one.validity, ...one.buffers]));
  const body = buffers.flatMap((one) => [one, padding.subarray(0, -one.length & 7)]);
  return [framed(batchMessage(length, arrays, buffers)), ...body];
}

/** A column and its children, in the order in which Arrow lays them out. */
function withChildren(array: ArrayData): readonly ArrayData[] {
  return [array, ...array.children.flatMap(withChildren)];
}

/** Every buffer begins at a multiple of eight bytes. */
const padding = Buffer.alloc(8);

function batchMessage(length: number, arrays: readonly ArrayData[], buffers: readonly Buffer[]): Uint8Array {
  const builder = new Builder();
  // A vector of structs is written from its end.
  RecordBatch.startNodesVector(builder, arrays.length);
  for (const one of arrays.toReversed()) FieldNode.createFieldNode(builder, BigInt(one.length), BigInt(one.nulls));
  const nodes = builder.endVector();
  let end = buffers.reduce((sum, one) => sum + one.length + (-one.length & 7), 0);
  const bodyLength = BigInt(end);
  RecordBatch.startBuffersVector(builder, buffers.length);
  for (const one of buffers.toReversed()) {
    end -= one.length + (-one.length & 7);
    BufferPlace.createBuffer(builder, BigInt(end), BigInt(one.length));
  }
  const places = builder.endVector();
  RecordBatch.startRecordBatch(builder);
  RecordBatch.addLength(builder, BigInt(length));
  RecordBatch.addNodes(builder, nodes);
  RecordBatch.addBuffers(builder, places);
  const batch = RecordBatch.endRecordBatch(builder);
  Message.finishMessageBuffer(
    builder,
    Message.createMessage(builder, MetadataVersion.V5, MessageHeader.RecordBatch, batch, bodyLength, 0),
  );
  return builder.asUint8Array();
}

/**
 * The record batch without rows that some services require after a schema before they create a table; undefined if there
 * is a dictionary, which must be sent first.
 */
export function emptyBatch(columns: readonly Column[]): readonly Buffer[] | undefined {
  const types = columns.flatMap(({ type }) => typesWithin(type));
  if (types.some(({ kind }) => kind === "dictionary")) return undefined;
  return batchOf(
    0,
    columns.map(({ type }) => emptyArray(type)),
  );
}
