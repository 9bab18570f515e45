/** The start and the end of an Arrow IPC file, around the messages that a stream has too. */
import { Block } from "apache-arrow/fb/block";
import { Footer } from "apache-arrow/fb/footer";
import { Builder, ByteBuffer, type Offset } from "flatbuffers";
import { endOfStream, magic, schemaOf, type IpcMessage } from "./ipc-messages.ts";

export const fileStart = Buffer.concat([magic, Buffer.alloc(2)]);

export function fileOf(messages: readonly IpcMessage[]): Buffer {
  return Buffer.concat([fileStart, ...messages.map(({ bytes }) => bytes), ...fileEnd(messages[0]!, messages)]);
}

export function footerOf(file: Buffer): Footer {
  const end = file.length - magic.length - 4;
  return Footer.getRootAsFooter(new ByteBuffer(file.subarray(end - file.readInt32LE(end), end)));
}

/** What the footer needs of a message. Without its header, which refers to its bytes: a result may be larger than memory. */
export type Written = Pick<IpcMessage, "kind" | "metadataLength" | "bodyLength">;

/** `first`: the message with the schema. */
export function fileEnd(first: IpcMessage, messages: readonly Written[]): readonly Buffer[] {
  const footer = writeFooter(first, messages);
  const length = Buffer.alloc(4);
  length.writeInt32LE(footer.length);
  return [endOfStream, footer, length, magic];
}

function writeFooter(first: IpcMessage, messages: readonly Written[]): Buffer {
  const builder = new Builder();
  const schema = copySchema(builder, first);
  let at = fileStart.length;
  const blocks = messages.map(({ kind, metadataLength, bodyLength }) => {
    const block = { kind, at, metadataLength, bodyLength };
    at += metadataLength + bodyLength;
    return block;
  });
  const writeBlocks = (kind: IpcMessage["kind"]) => {
    const some = blocks.filter((block) => block.kind === kind);
    builder.startVector(Block.sizeOf(), some.length, 8);
    for (const block of some.toReversed())
      Block.createBlock(builder, BigInt(block.at), block.metadataLength, BigInt(block.bodyLength));
    return builder.endVector();
  };
  const dictionaries = writeBlocks("dictionary");
  const recordBatches = writeBlocks("batch");
  Footer.startFooter(builder);
  // The engine refuses a file whose footer has another version than its messages.
  Footer.addVersion(builder, first.header.version());
  Footer.addSchema(builder, schema);
  Footer.addDictionaries(builder, dictionaries);
  Footer.addRecordBatches(builder, recordBatches);
  Footer.finishFooterBuffer(builder, Footer.endFooter(builder));
  return Buffer.from(builder.asUint8Array());
}

/** Copies the schema with all metadata: the bytes of its message, and the offset of the schema in them. */
function copySchema(builder: Builder, message: IpcMessage): Offset {
  const metadata = message.header.bb!.bytes();
  builder.startVector(1, metadata.length, 8);
  for (const byte of metadata.toReversed()) builder.addInt8(byte);
  return builder.offset() - schemaOf(message).bb_pos;
}
