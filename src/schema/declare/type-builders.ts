/** The type builders of the public API. They return plain data; zod checks it when the migration is loaded. */
import { isPlainObject } from "../../checks/realm.ts";
import { itemName, type Column, type DataType, type PlainKind, type TimeUnit } from "../data-type.ts";
import type {
  DictionaryShape,
  ShapeOf,
  ShapesOf,
  TimestampShape,
  VectorShape,
  ColumnType,
  NullableType,
  Fields,
} from "../typed/shape.ts";

// The methods are on the prototype, so that what a migration exports stays plain data.
const nullableType = {
  notNull(this: NullableType): ColumnType<false> {
    return { type: this.type, nullable: false };
  },
  computed(this: NullableType, expression: string): ColumnType<true> {
    return { type: this.type, nullable: true, expression };
  },
};

function columnType<Shape>(type: DataType): NullableType<Shape> {
  return Object.assign(Object.create(nullableType) as NullableType<Shape>, { type, nullable: true });
}

const plain =
  <Kind extends PlainKind>(kind: Kind) =>
  (): NullableType<Kind> =>
    columnType({ kind });

export const int8 = plain("int8");
export const int16 = plain("int16");
export const int32 = plain("int32");
export const int64 = plain("int64");
export const uint8 = plain("uint8");
export const uint16 = plain("uint16");
export const uint32 = plain("uint32");
export const uint64 = plain("uint64");
export const float16 = plain("float16");
export const float32 = plain("float32");
export const float64 = plain("float64");
export const bool = plain("bool");
export const utf8 = plain("utf8");
export const largeUtf8 = plain("largeUtf8");
export const binary = plain("binary");
export const largeBinary = plain("largeBinary");
/** Days since 1970. */
export const date32 = plain("date32");
/** Milliseconds since 1970. */
export const date64 = plain("date64");
/** JSON. Rows hold it as text. */
export const json = plain("json");
/** Bytes that the engine stores apart from other columns, for large values such as images; a query gives their place. */
export const blob = plain("blob");
/** A column that contains only nulls; Arrow calls the type `null`. */
export const nullType = plain("null");

/** Bytes of a fixed length. */
export function fixedSizeBinary<Length extends number>(length: Length): NullableType<`fixedSizeBinary(${Length})`> {
  return columnType({ kind: "fixedSizeBinary", length });
}

/** A decimal of 1 to 38 digits, `scale` of them after the decimal point. */
export function decimal128<Precision extends number, Scale extends number>(
  precision: Precision,
  scale: Scale,
): NullableType<`decimal128(${Precision}, ${Scale})`> {
  return columnType({ kind: "decimal128", precision, scale });
}

/** Time of day in seconds or milliseconds. */
export function time32<Unit extends "s" | "ms">(unit: Unit): NullableType<`time32(${Unit})`> {
  return columnType({ kind: "time32", unit });
}

/** Time of day in microseconds or nanoseconds. */
export function time64<Unit extends "us" | "ns">(unit: Unit): NullableType<`time64(${Unit})`> {
  return columnType({ kind: "time64", unit });
}

/** A timestamp. With a zone such as "UTC" or "Europe/Berlin" it is a point in time, without one a local time. */
export function timestamp<Unit extends TimeUnit, Zone extends string | undefined = undefined>(
  unit: Unit,
  zone?: Zone,
): NullableType<TimestampShape<Unit, Zone>> {
  return columnType(zone === undefined ? { kind: "timestamp", unit } : { kind: "timestamp", unit, zone });
}

/** A length of time. */
export function duration<Unit extends TimeUnit>(unit: Unit): NullableType<`duration(${Unit})`> {
  return columnType({ kind: "duration", unit });
}

export function list<Item extends ColumnType>(item: Item): NullableType<["list", ShapeOf<Item>]> {
  return columnType({ kind: "list", item: itemOf(item) });
}

/** A list with 64-bit offsets. */
export function largeList<Item extends ColumnType>(item: Item): NullableType<["largeList", ShapeOf<Item>]> {
  return columnType({ kind: "largeList", item: itemOf(item) });
}

/** Lists of a fixed length. The engine keeps their items nullable. */
export function fixedSizeList<Item extends NullableType, Length extends number>(
  item: Item,
  length: Length,
): NullableType<VectorShape<ShapeOf<Item>, Length>> {
  return columnType({ kind: "fixedSizeList", item: itemOf(item), length });
}

/** A vector of `length` numbers, float32 by default: the short form of `fixedSizeList`. */
export function vector<Length extends number, Item extends NullableType = NullableType<"float32">>(
  length: Length,
  // If the argument is left out, `Item` is the type of float32.
  item: Item = float32() as NullableType as Item,
): NullableType<VectorShape<ShapeOf<Item>, Length>> {
  return fixedSizeList(item, length);
}

export function struct<const Own extends Fields>(fields: Own): NullableType<["struct", ShapesOf<Own>]> {
  return columnType({ kind: "struct", fields: columnsOf(fields) });
}

/** Values stored once and referred to by an integer index. */
export function dictionary<Index extends NullableType, Value extends NullableType>(
  index: Index,
  value: Value,
): NullableType<DictionaryShape<ShapeOf<Index>, ShapeOf<Value>>> {
  return columnType({ kind: "dictionary", index: index?.type, value: value?.type });
}

/** The fields as the list of columns that a step contains. Errors are left for zod to report. */
export function columnsOf(fields: Fields): readonly Column[] {
  if (Array.isArray(fields) && fields.every((pair) => Array.isArray(pair) && pair.length === 2))
    return (fields as readonly (readonly [string, ColumnType])[]).map(named);
  // Any other array would pass as a list of columns, or give columns named 0, 1, …
  // And { __proto__: … } sets a prototype instead of naming a column.
  if (!isPlainObject(fields) || Object.getPrototypeOf(fields) === null) return undefined as unknown as Column[];
  return Object.entries(fields as Readonly<Record<string, ColumnType>>).map(named);
}

function named([name, column]: readonly [string, ColumnType]): Column {
  const { type, nullable, expression } = column ?? {};
  return { name, type: type!, nullable: nullable!, ...(expression !== undefined && { computed: expression }) };
}

function itemOf(item: ColumnType): Column {
  return { name: itemName, type: item?.type, nullable: item?.nullable };
}
