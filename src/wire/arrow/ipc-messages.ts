/**
 * Arrow IPC data as a sequence of messages
 * (https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format). Data from clients is checked here
 * before the engine sees it: the engine trusts lengths, and a wrong one can end the process.
 */
import { CompressionType } from "apache-arrow/fb/compression-type";
import { DictionaryBatch } from "apache-arrow/fb/dictionary-batch";
import type { Field } from "apache-arrow/fb/field";
import { Message } from "apache-arrow/fb/message";
import { MessageHeader } from "apache-arrow/fb/message-header";
import { RecordBatch } from "apache-arrow/fb/record-batch";
import { Schema } from "apache-arrow/fb/schema";
import { Type } from "apache-arrow/fb/type";
import { ByteBuffer, Encoding } from "flatbuffers";
import { MigrateError } from "../../errors/migrate-error.ts";

export const magic = Buffer.from("ARROW1");
export const continuation = 0xffff_ffff;
export const endOfStream = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/** A message in the frame that streams need. Its length, prefix included, must be a multiple of eight bytes. */
export function framed(message: Uint8Array): Buffer {
  const padded = Math.ceil(message.length / 8) * 8;
  const frame = Buffer.alloc(8 + padded);
  frame.writeUInt32LE(continuation, 0);
  frame.writeInt32LE(padded, 4);
  frame.set(message, 8);
  return frame;
}

export interface IpcMessage {
  readonly kind: "schema" | "dictionary" | "batch";
  /** The whole message: prefix, metadata and body. */
  readonly bytes: Buffer;
  /** The length of the prefix and the metadata together, as footers count it. */
  readonly metadataLength: number;
  readonly bodyLength: number;
  readonly header: Message;
}

const mostFields = 20_000;
const mostLetters = 4 * 2 ** 20;
const deepest = 64;
// Arrow's limit for an array with 32-bit offsets.
const mostRows = 2 ** 31 - 1;

export function isIpcFile(bytes: Buffer): boolean {
  return bytes.subarray(0, magic.length).equals(magic);
}

/**
 * The messages of an Arrow IPC stream, or of a file as the engine writes it. Throws ERR_ARROW_INVALID if the data is
 * malformed.
 */
export function readMessages(bytes: Buffer): readonly IpcMessage[] {
  if (bytes.length === 0) throw invalid("is empty");
  const messages: IpcMessage[] = [];
  let at = isIpcFile(bytes) ? startOfFile(bytes) : 0;
  for (;;) {
    const message = readMessage(bytes, at);
    if (message === undefined) break;
    messages.push(message);
    at += message.bytes.length;
  }
  const [first, ...others] = messages;
  if (first?.kind !== "schema") throw invalid("does not begin with a schema");
  if (others.some(({ kind }) => kind === "schema")) throw invalid("has a second schema");
  if (!isIpcFile(bytes) && at + endLength(bytes, at) < bytes.length) throw invalid("continues after its end mark");
  return messages;
}

/**
 * Refuses rows that would exhaust the engine's memory or end its process: a few bytes of LZ4 can stand for gigabytes.
 */
export function checkMessages(messages: readonly IpcMessage[], largestUnpacked: number): void {
  let unpacked = 0;
  for (const message of messages) {
    // On data that is too short, the accessors read past its end, and sometimes throw.
    try {
      if (message.kind !== "schema") unpacked += unpackedLength(message, largestUnpacked);
    } catch (cause) {
      if (cause instanceof MigrateError) throw cause;
      throw invalid(`has a ${message.kind} that can't be read`, cause);
    }
    if (unpacked > largestUnpacked) throw invalid(`unpacks to more than ${largestUnpacked} bytes`);
  }
}

export function schemaOf({ header }: Pick<IpcMessage, "header">): Schema {
  return header.header(new Schema()) as Schema;
}

export function rowCountIn(message: IpcMessage): number {
  return message.kind === "batch" ? Number((message.header.header(new RecordBatch()) as RecordBatch).length()) : 0;
}

export function invalid(problem: string, cause?: unknown): MigrateError {
  return new MigrateError("ERR_ARROW_INVALID", { problem }, { cause });
}

/** The magic is padded to eight bytes; the engine pads it to 64. */
function startOfFile(bytes: Buffer): number {
  let at = 8;
  while (at < 64 && at + 8 <= bytes.length && bytes.readBigUInt64LE(at) === 0n) at += 8;
  return at;
}

/** The message at an offset; undefined at the end of the data. */
export function readMessage(bytes: Buffer, at: number): IpcMessage | undefined {
  // The end mark may be missing, because the transport tells where a stream ends.
  if (at === bytes.length) return undefined;
  if (bytes.length - at < 4) throw cutShort();
  // Streams written before Arrow 0.15 lack the continuation mark.
  const prefix = bytes.readUInt32LE(at) === continuation ? 8 : 4;
  if (bytes.length - at < prefix) throw cutShort();
  const length = bytes.readInt32LE(at + prefix - 4);
  if (length === 0) return undefined;
  if (length < 16) throw invalid("is no Arrow IPC stream");
  const metadataLength = prefix + length;
  if (metadataLength > bytes.length - at)
    throw at === 0 && prefix === 4 ? invalid("is no Arrow IPC stream") : cutShort();
  const header = Message.getRootAsMessage(new ByteBuffer(bytes.subarray(at + prefix, at + metadataLength)));
  const bodyLength = Number(header.bodyLength());
  const kind = kinds.get(header.headerType());
  if (kind === undefined || !Number.isSafeInteger(bodyLength) || bodyLength < 0)
    throw invalid("has a message that is neither schema, dictionary nor record batch");
  if (bodyLength > bytes.length - at - metadataLength) throw cutShort();
  const whole = bytes.subarray(at, at + metadataLength + bodyLength);
  return { kind, bytes: whole, metadataLength, bodyLength, header };
}

const kinds: ReadonlyMap<MessageHeader, IpcMessage["kind"]> = new Map([
  [MessageHeader.Schema, "schema"],
  [MessageHeader.DictionaryBatch, "dictionary"],
  [MessageHeader.RecordBatch, "batch"],
]);

function cutShort(): MigrateError {
  return invalid("is cut short");
}

function endLength(bytes: Buffer, at: number): number {
  if (at === bytes.length) return 0;
  return bytes.readUInt32LE(at) === continuation ? 8 : 4;
}

const lists: ReadonlySet<Type> = new Set([Type.List, Type.LargeList, Type.FixedSizeList, Type.Map]);

/**
 * Refuses a schema that is too large. Fields may share children, names and metadata, so a small message could describe a
 * schema without end.
 */
export function checkSchema(schema: Schema): void {
  let [fields, entries, letters] = [mostFields, mostFields, mostLetters];
  const count = (text: Uint8Array | string | null | undefined) => (letters -= text?.length ?? 0);
  const visitMetadata = (annotated: Schema | Field): void => {
    const length = annotated.customMetadataLength();
    entries -= length;
    if (entries < 0) throw invalid("has metadata that is too large");
    for (let index = 0; index < length; index++) {
      const entry = annotated.customMetadata(index);
      count(entry?.key(Encoding.UTF8_BYTES));
      count(entry?.value(Encoding.UTF8_BYTES));
    }
    if (letters < 0) throw invalid("has metadata that is too large");
  };
  const visit = (field: Field | null, depth: number): void => {
    fields -= 1;
    count(field?.name(Encoding.UTF8_BYTES));
    if (field === null || depth > deepest || fields < 0 || letters < 0)
      throw invalid("has a schema that is too large or too deep");
    if (lists.has(field.typeType()) && field.childrenLength() !== 1)
      throw invalid(`has a list ${JSON.stringify(field.name())} without a type of its items`);
    visitMetadata(field);
    for (let index = 0; index < field.childrenLength(); index++) visit(field.children(index), depth + 1);
  };
  visitMetadata(schema);
  for (let index = 0; index < schema.fieldsLength(); index++) visit(schema.fields(index), 0);
}

function unpackedLength(message: IpcMessage, most: number): number {
  const { header, kind, metadataLength, bytes } = message;
  const batch =
    kind === "batch"
      ? (header.header(new RecordBatch()) as RecordBatch)
      : (header.header(new DictionaryBatch()) as DictionaryBatch).data();
  if (batch === null || !isCount(batch.length(), mostRows)) throw invalid("has a record batch of an impossible length");
  // Both lists have entries of sixteen bytes. The accessors would read past their end.
  if (batch.nodesLength() + batch.buffersLength() > metadataLength / 16)
    throw invalid("has a record batch whose description is cut short");
  for (let index = 0; index < batch.nodesLength(); index++) {
    const node = batch.nodes(index);
    if (node === null || !isCount(node.length(), mostRows) || !isCount(node.nullCount(), Number(node.length())))
      throw invalid("has a column of an impossible length");
  }
  const body = bytes.subarray(metadataLength);
  const packed = batch.compression();
  if (packed !== null && ![CompressionType.LZ4_FRAME, CompressionType.ZSTD].includes(packed.codec()))
    throw invalid("is compressed in a way that is not LZ4_FRAME and not ZSTD");
  let unpacked = 0;
  for (let index = 0; index < batch.buffersLength(); index++) {
    const buffer = batch.buffers(index);
    const [offset, length] = [Number(buffer?.offset()), Number(buffer?.length())];
    if (!isCount(offset, body.length) || !isCount(length, body.length - offset))
      throw invalid("has a column that lies outside of its record batch");
    unpacked += packed === null || length === 0 ? length : unpackedBuffer(body.subarray(offset, offset + length), most);
  }
  return unpacked;
}

/** A compressed buffer begins with its uncompressed length; -1 means that it is not compressed. */
function unpackedBuffer(buffer: Buffer, most: number): number {
  const length = buffer.length < 8 ? Number.NaN : Number(buffer.readBigInt64LE());
  if (length === -1) return buffer.length - 8;
  if (!(length >= 0)) throw invalid("has a compressed column of an impossible length");
  if (length > most) throw invalid(`unpacks to more than ${most} bytes`);
  return length;
}

function isCount(value: number | bigint, most: number): boolean {
  return Number.isInteger(Number(value)) && value >= 0 && value <= most;
}
