/** Values of one type in the layout of Arrow (https://arrow.apache.org/docs/format/Columnar.html#physical-memory-layout). */
import { childColumns, fixedBytes, isInteger, type DataType } from "../../schema/data-type.ts";
import { storedType } from "../../schema/reserved-metadata.ts";

export interface ArrayData {
  readonly type: DataType;
  readonly length: number;
  /** How many of them are null. */
  readonly nulls: number;
  /** Which of them are not null, in bits. May be empty if none is. */
  readonly validity: Buffer;
  /** Those of the type: offsets if the values differ in length, and the values unless they are in children. */
  readonly buffers: readonly Buffer[];
  readonly children: readonly ArrayData[];
  /** The values that the numbers of a dictionary's buffer stand for. */
  readonly dictionary?: ArrayData | undefined;
}

/** How many buffers a type has besides its validity; undefined for one whose layout is unknown. */
export function buffersOf({ kind }: DataType): number | undefined {
  switch (kind) {
    case "unknown":
      return undefined;
    case "null":
    case "struct":
    case "fixedSizeList":
      return 0;
    case "utf8":
    case "largeUtf8":
    case "binary":
    case "largeBinary":
      return 2;
    default:
      return 1;
  }
}

/** How many bytes a value takes; undefined if that differs, or if it has no bytes of its own. */
export function widthOf(type: DataType): number | undefined {
  switch (type.kind) {
    case "null":
    case "bool":
      return undefined;
    case "fixedSizeBinary":
      return type.length;
    case "dictionary":
      return widthOf(type.index);
    default:
      return fixedBytes[type.kind];
  }
}

/** Whether offsets have 64 bits. */
export function isLarge({ kind }: DataType): boolean {
  return kind.startsWith("large");
}

export function bitAt(bits: Buffer, at: number): boolean {
  return ((bits[at >> 3]! >> (at & 7)) & 1) === 1;
}

export function bitsOf(flags: readonly boolean[]): Buffer {
  const bits = Buffer.alloc(Math.ceil(flags.length / 8));
  for (const [at, flag] of flags.entries()) if (flag) bits[at >> 3]! |= 1 << (at & 7);
  return bits;
}

export function isNullAt({ type, nulls, validity }: ArrayData, at: number): boolean {
  return type.kind === "null" || (nulls > 0 && !bitAt(validity, at));
}

/** Where the value at `at` begins, of one with offsets; that at `at + 1` is where it ends. */
export function offsetAt({ type, buffers: [offsets] }: ArrayData, at: number): number {
  // An array without values may have no offsets.
  if (offsets!.length === 0) return 0;
  return isLarge(type) ? Number(offsets!.readBigInt64LE(at * 8)) : offsets!.readInt32LE(at * 4);
}

/** A whole number, or another value that is stored as one, such as a time. */
export function wholeAt(type: DataType, bytes: Buffer, at: number): number | bigint {
  const width = widthOf(type)!;
  const isSigned = !isInteger(type) || type.kind.startsWith("int");
  if (width === 8) return isSigned ? bytes.readBigInt64LE(at * 8) : bytes.readBigUInt64LE(at * 8);
  return isSigned ? bytes.readIntLE(at * width, width) : bytes.readUIntLE(at * width, width);
}

/** Of any type, without values. */
export function emptyArray(given: DataType): ArrayData {
  const type = storedType(given);
  const none = Buffer.alloc(0);
  const buffers = Array.from({ length: buffersOf(type) ?? 0 }, () => none);
  const children = childColumns(type).map((child) => emptyArray(child.type));
  return { type, length: 0, nulls: 0, validity: none, buffers, children };
}
