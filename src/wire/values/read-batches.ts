/** The record batches of Arrow IPC data as arrays. */
import { DictionaryBatch } from "apache-arrow/fb/dictionary-batch";
import type { Field } from "apache-arrow/fb/field";
import { RecordBatch } from "apache-arrow/fb/record-batch";
import type { Schema } from "apache-arrow/fb/schema";
import { childColumns, type Column, type DataType } from "../../schema/data-type.ts";
import { toColumn } from "../arrow/arrow-field.ts";
import { footerOf } from "../arrow/ipc-footer.ts";
import {
  checkMessages,
  checkSchema,
  isIpcFile,
  readMessage,
  readMessages,
  schemaOf,
  type IpcMessage,
} from "../arrow/ipc-messages.ts";
import { buffersOf, isLarge, isNullAt, offsetAt, wholeAt, widthOf, type ArrayData } from "../arrow/array-data.ts";

export interface Batches {
  readonly columns: readonly Column[];
  /** Can be read once. */
  readonly batches: Iterable<Batch>;
}

export interface Batch {
  readonly columns: readonly Column[];
  readonly length: number;
  /** One for each column. */
  readonly arrays: readonly ArrayData[];
}

/** In bytes. */
const largestUnpacked = 2 ** 31;

/** Of a file or a stream. Throws if it is malformed or compressed, or has values of a type that can't be read. */
export function readBatches(bytes: Buffer): Batches {
  const { schema, messages } = isIpcFile(bytes) ? contentOfFile(bytes) : contentOfStream(bytes);
  checkSchema(schema);
  checkMessages(messages, largestUnpacked);
  const fields = Array.from({ length: schema.fieldsLength() }, (_, index) => schema.fields(index)!);
  const columns = fields.map(toColumn);
  return { columns, batches: batchesOf(messages, fields, columns) };
}

function* batchesOf(
  messages: readonly IpcMessage[],
  fields: readonly Field[],
  columns: readonly Column[],
): Generator<Batch> {
  const dictionaries = new Map<bigint, ArrayData>();
  const ofDictionaries = dictionaryFields(fields);
  for (const message of messages) {
    const { batch, id } = contentOf(message);
    const reader = readerOf(message, batch, dictionaries);
    if (id === undefined) {
      const length = Number(batch.length());
      const arrays = fields.map((field, at) => reader(field, columns[at]!.type));
      for (const [at, array] of arrays.entries()) checkLength(array, length, columns[at]!.name);
      yield { columns, length, arrays };
    } else {
      const field = ofDictionaries.get(id)!;
      const type = toColumn(field).type as DataType & { readonly kind: "dictionary" };
      const values = reader(field, type.value);
      checkLength(values, Number(batch.length()), "a dictionary");
      dictionaries.set(id, values);
    }
  }
}

interface Content {
  readonly schema: Schema;
  readonly messages: readonly IpcMessage[];
}

function contentOfStream(bytes: Buffer): Content {
  const [first, ...messages] = readMessages(bytes);
  return { schema: schemaOf(first!), messages };
}

/** Some writers put the schema into the footer alone. */
function contentOfFile(bytes: Buffer): Content {
  const footer = footerOf(bytes);
  const dictionaries = Array.from({ length: footer.dictionariesLength() }, (_, at) => footer.dictionaries(at)!);
  const batches = Array.from({ length: footer.recordBatchesLength() }, (_, at) => footer.recordBatches(at)!);
  const messages = [...dictionaries, ...batches].map((block) => readMessage(bytes, Number(block.offset()))!);
  return { schema: footer.schema()!, messages };
}

function contentOf({ kind, header }: IpcMessage): { readonly batch: RecordBatch; readonly id?: bigint } {
  if (kind === "batch") return { batch: header.header(new RecordBatch()) as RecordBatch };
  const dictionary = header.header(new DictionaryBatch()) as DictionaryBatch;
  if (dictionary.isDelta()) throw new TypeError("a dictionary that grows can't be read");
  return { batch: dictionary.data()!, id: dictionary.id() };
}

function dictionaryFields(fields: readonly Field[]): ReadonlyMap<bigint, Field> {
  const found = new Map<bigint, Field>();
  const visit = (field: Field): void => {
    const dictionary = field.dictionary();
    if (dictionary !== null) found.set(dictionary.id(), field);
    for (const child of childrenOf(field)) visit(child);
  };
  for (const field of fields) visit(field);
  return found;
}

function childrenOf(field: Field): readonly Field[] {
  return Array.from({ length: field.childrenLength() }, (_, index) => field.children(index)!);
}

/** Reads one column after the other, with its children: that is the order of a batch's nodes and buffers. */
function readerOf(
  { bytes, metadataLength }: IpcMessage,
  batch: RecordBatch,
  dictionaries: ReadonlyMap<bigint, ArrayData>,
): (field: Field, type: DataType) => ArrayData {
  if (batch.compression() !== null) throw new TypeError("compressed rows can't be read");
  let [node, buffer] = [0, 0];
  const nextBuffer = (): Buffer => {
    const place = batch.buffers(buffer++);
    if (place === null) throw new TypeError("a record batch has too few buffers");
    const from = metadataLength + Number(place.offset());
    return bytes.subarray(from, from + Number(place.length()));
  };
  return function read(field, type): ArrayData {
    const count = buffersOf(type);
    const own = batch.nodes(node++);
    if (count === undefined || own === null) throw new TypeError(`values of type ${nameOf(type)} can't be read`);
    const validity = type.kind === "null" ? nothing : nextBuffer();
    const buffers = Array.from({ length: count }, nextBuffer);
    // Not those of a dictionary: its values are in a batch of their own.
    const children = childColumns(type).map((child, index) => read(field.children(index)!, child.type));
    const dictionary = type.kind === "dictionary" ? dictionaries.get(field.dictionary()!.id()) : undefined;
    const [length, nulls] = [Number(own.length()), Number(own.nullCount())];
    // Where there are no values, some writers leave it out.
    if (type.kind === "dictionary" && dictionary === undefined && nulls < length)
      throw new TypeError("a dictionary is missing");
    return { type, length, nulls, validity, buffers, children, dictionary };
  };
}

/** Data from elsewhere may be shorter than its description. What is read beyond its end could be a part of a value. */
function checkLength(array: ArrayData, least: number, name: string): void {
  const { type, length, nulls, validity, buffers, children } = array;
  const ends = (count: number, bits: number, bytes: Buffer | undefined) => bytes!.length * 8 >= count * bits;
  const has = () => {
    if (length < least) return false;
    // An array without values may have no buffers.
    if (length === 0 || type.kind === "null") return true;
    if (nulls > 0 && !ends(length, 1, validity)) return false;
    if (type.kind === "bool") return ends(length, 1, buffers[0]);
    if (buffers.length === 0) return true;
    const width = widthOf(type);
    if (width !== undefined) return width >= 0 && ends(length, width * 8, buffers[0]) && areInDictionary(array);
    if (!ends(length + 1, isLarge(type) ? 64 : 32, buffers[0])) return false;
    return areAscending(array) && (children.length > 0 || offsetAt(array, length) <= buffers[1]!.length);
  };
  if (!has()) throw new TypeError(`${name} has fewer values than there are rows`);
  for (const child of children) checkLength(child, itemsIn(array), name);
}

/** Otherwise a value would have a part of another one. */
function areAscending(array: ArrayData): boolean {
  let last = 0;
  for (let at = 0; at <= array.length; at++) {
    const offset = offsetAt(array, at);
    if (offset < last) return false;
    last = offset;
  }
  return true;
}

function areInDictionary(array: ArrayData): boolean {
  const { type, length, buffers, dictionary } = array;
  if (type.kind !== "dictionary" || dictionary === undefined) return true;
  for (let at = 0; at < length; at++) {
    const place = Number(wholeAt(type.index, buffers[0]!, at));
    if (!isNullAt(array, at) && (place < 0 || place >= dictionary.length)) return false;
  }
  return true;
}

/** How many items a list, a vector or a struct needs. */
function itemsIn(array: ArrayData): number {
  const { type, length } = array;
  if (type.kind === "struct") return length;
  return type.kind === "fixedSizeList" ? length * type.length : length === 0 ? 0 : offsetAt(array, length);
}

const nothing = Buffer.alloc(0);

function nameOf(type: DataType): string {
  return type.kind === "unknown" ? type.name : type.kind;
}
