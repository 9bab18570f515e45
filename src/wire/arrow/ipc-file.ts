/**
 * Converts Arrow IPC streams to files and back. The engine's binding takes and gives files; over HTTP, clients send
 * streams, and answers are either. The messages themselves are not changed, so that every type and compression that the
 * engine knows passes through, including those for which apache-arrow has no class.
 */
import { DictionaryBatch } from "apache-arrow/fb/dictionary-batch";
import type { Column } from "../../schema/data-type.ts";
import { fromIpc } from "./arrow-schema.ts";
import { fileType, streamType } from "../content-types.ts";
import { fileEnd, fileOf, fileStart, type Written } from "./ipc-footer.ts";
import {
  checkMessages,
  endOfStream,
  invalid,
  isIpcFile,
  readMessages,
  rowCountIn,
  type IpcMessage,
} from "./ipc-messages.ts";

export interface IpcFile {
  readonly bytes: Buffer;
  readonly columns: readonly Column[];
  readonly rows: number;
}

/**
 * A stream from a client, as a file. Throws ERR_ARROW_INVALID, also if it unpacks to more than `largestUnpacked` bytes.
 */
export function toCheckedFile(body: Buffer, largestUnpacked: number): IpcFile {
  // Some writers put the schema of a file into its footer alone, which is not read here.
  if (isIpcFile(body)) throw invalid("is an Arrow IPC file; send it as a stream");
  const sent = readMessages(body);
  const columns = fromIpc(sent[0]!.bytes);
  checkMessages(sent, largestUnpacked);
  const messages = withoutRepeats(sent);
  return { bytes: fileOf(messages), columns, rows: messages.reduce((sum, message) => sum + rowCountIn(message), 0) };
}

/** A file holds one dictionary for each column. A stream may repeat or replace it before every record batch. */
function withoutRepeats(messages: readonly IpcMessage[]): readonly IpcMessage[] {
  const known = new Map<bigint, Buffer>();
  return messages.filter((message) => {
    if (message.kind !== "dictionary") return true;
    const dictionary = message.header.header(new DictionaryBatch()) as DictionaryBatch;
    if (dictionary.isDelta()) return true;
    const before = known.get(dictionary.id());
    known.set(dictionary.id(), message.bytes);
    if (before !== undefined && !before.equals(message.bytes))
      throw invalid("replaces a dictionary between two record batches; send one record batch, or plain values");
    return before === undefined;
  });
}

export function rowsInFile(bytes: Buffer): number {
  return readMessages(bytes).reduce((sum, message) => sum + rowCountIn(message), 0);
}

/** Converts a file or a stream to a stream. */
export function toStream(bytes: Buffer): Buffer {
  return Buffer.concat([...readMessages(bytes).map((message) => message.bytes), endOfStream]);
}

export interface IpcAnswer {
  readonly contentType: string;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Joins the files in which the engine returns a result, one per record batch, into one answer. */
export function joinFiles(first: Buffer, others: AsyncIterable<Buffer>): IpcAnswer {
  const messages = readMessages(first);
  // Each of these files has a dictionary of its own, and only a stream can replace a dictionary.
  const replaces = messages.some(({ kind }) => kind === "dictionary");
  return replaces
    ? { contentType: streamType, chunks: streamChunks(messages, others) }
    : { contentType: fileType, chunks: fileChunks(messages, others) };
}

async function* streamChunks(first: readonly IpcMessage[], others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for (const { bytes } of first) yield bytes;
  for await (const file of others) for (const { bytes } of readMessages(file).slice(1)) yield bytes;
  yield endOfStream;
}

async function* fileChunks(first: readonly IpcMessage[], others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield fileStart;
  for (const { bytes } of first) yield bytes;
  const written: Written[] = [...first];
  for await (const file of others)
    for (const { bytes, kind, metadataLength, bodyLength } of readMessages(file).slice(1)) {
      yield bytes;
      written.push({ kind, metadataLength, bodyLength });
    }
  yield* fileEnd(first[0]!, written);
}
