/** Converts columns to fields of an Arrow schema in flatbuffers, and back. */
import { Binary } from "apache-arrow/fb/binary";
import { Bool } from "apache-arrow/fb/bool";
import { Date as ArrowDate } from "apache-arrow/fb/date";
import { DateUnit } from "apache-arrow/fb/date-unit";
import { Decimal } from "apache-arrow/fb/decimal";
import { DictionaryEncoding } from "apache-arrow/fb/dictionary-encoding";
import { Duration } from "apache-arrow/fb/duration";
import { Field } from "apache-arrow/fb/field";
import { FixedSizeBinary } from "apache-arrow/fb/fixed-size-binary";
import { FixedSizeList } from "apache-arrow/fb/fixed-size-list";
import { FloatingPoint } from "apache-arrow/fb/floating-point";
import { Int } from "apache-arrow/fb/int";
import { KeyValue } from "apache-arrow/fb/key-value";
import { LargeBinary } from "apache-arrow/fb/large-binary";
import { LargeList } from "apache-arrow/fb/large-list";
import { LargeUtf8 } from "apache-arrow/fb/large-utf8";
import { List } from "apache-arrow/fb/list";
import { Null } from "apache-arrow/fb/null";
import type { Precision } from "apache-arrow/fb/precision";
import { Struct_ } from "apache-arrow/fb/struct-";
import { Time } from "apache-arrow/fb/time";
import type { TimeUnit as ArrowTimeUnit } from "apache-arrow/fb/time-unit";
import { Timestamp } from "apache-arrow/fb/timestamp";
import { Type } from "apache-arrow/fb/type";
import { Utf8 } from "apache-arrow/fb/utf8";
import { Encoding, type Builder, type Offset } from "flatbuffers";
import {
  childColumns,
  floatKinds,
  itemName,
  timeUnits,
  type Column,
  type DataType,
  type PlainKind,
} from "../../schema/data-type.ts";
import { extensionKey, extensionName, storedType } from "../../schema/reserved-metadata.ts";

export type ArrowMetadata = Readonly<Record<string, string>>;

/** `dictionaries` gives every dictionary of a schema an id of its own. */
export function writeField(
  builder: Builder,
  column: Column,
  dictionaries: { next: bigint },
  metadata: ArrowMetadata = {},
): Offset {
  const type = storedType(column.type);
  const extension = extensionName(column.type);
  const stored = type.kind === "dictionary" ? type.value : type;
  const name = builder.createString(column.name);
  const [typeType, typeOffset] = writeType(builder, stored);
  const children = Field.createChildrenVector(
    builder,
    childColumns(stored).map((child) => writeField(builder, child, dictionaries)),
  );
  const marks = writeMetadata(builder, extension === undefined ? metadata : { ...metadata, [extensionKey]: extension });
  const dictionary = type.kind === "dictionary" ? writeDictionary(builder, type.index, dictionaries) : 0;
  Field.startField(builder);
  Field.addName(builder, name);
  Field.addNullable(builder, column.nullable);
  Field.addTypeType(builder, typeType);
  Field.addType(builder, typeOffset);
  Field.addDictionary(builder, dictionary);
  Field.addChildren(builder, children);
  Field.addCustomMetadata(builder, marks);
  return Field.endField(builder);
}

/** Returns 0 if there is none. */
export function writeMetadata(builder: Builder, metadata: ArrowMetadata): Offset {
  const pairs = Object.entries(metadata).map(([key, value]) =>
    KeyValue.createKeyValue(builder, builder.createString(key), builder.createString(value)),
  );
  return pairs.length === 0 ? 0 : Field.createCustomMetadataVector(builder, pairs);
}

function writeDictionary(builder: Builder, index: DataType, dictionaries: { next: bigint }): Offset {
  const [, indexType] = writeType(builder, index);
  DictionaryEncoding.startDictionaryEncoding(builder);
  DictionaryEncoding.addId(builder, dictionaries.next++);
  DictionaryEncoding.addIndexType(builder, indexType);
  return DictionaryEncoding.endDictionaryEncoding(builder);
}

type Start = (builder: Builder) => void;
type End = (builder: Builder) => Offset;

/** The types without parameters. What is inside of a list or a struct are children of its field. */
const plainTypes: Readonly<Partial<Record<DataType["kind"], readonly [Type, Start, End]>>> = {
  null: [Type.Null, Null.startNull, Null.endNull],
  bool: [Type.Bool, Bool.startBool, Bool.endBool],
  utf8: [Type.Utf8, Utf8.startUtf8, Utf8.endUtf8],
  largeUtf8: [Type.LargeUtf8, LargeUtf8.startLargeUtf8, LargeUtf8.endLargeUtf8],
  binary: [Type.Binary, Binary.startBinary, Binary.endBinary],
  largeBinary: [Type.LargeBinary, LargeBinary.startLargeBinary, LargeBinary.endLargeBinary],
  list: [Type.List, List.startList, List.endList],
  largeList: [Type.LargeList, LargeList.startLargeList, LargeList.endLargeList],
  struct: [Type.Struct_, Struct_.startStruct_, Struct_.endStruct_],
};

const plainKinds = new Map(Object.entries(plainTypes).map(([kind, [type]]) => [type, kind as PlainKind]));

function writeType(builder: Builder, type: DataType): [Type, Offset] {
  const plain = plainTypes[type.kind];
  if (plain !== undefined) {
    const [arrowType, start, end] = plain;
    start(builder);
    return [arrowType, end(builder)];
  }
  switch (type.kind) {
    case "float16":
    case "float32":
    case "float64":
      return [Type.FloatingPoint, FloatingPoint.createFloatingPoint(builder, floatKinds.indexOf(type.kind))];
    case "fixedSizeBinary":
      return [Type.FixedSizeBinary, FixedSizeBinary.createFixedSizeBinary(builder, type.length)];
    case "decimal128":
      return [Type.Decimal, Decimal.createDecimal(builder, type.precision, type.scale, 128)];
    case "date32":
      return [Type.Date, ArrowDate.createDate(builder, DateUnit.DAY)];
    case "date64":
      return [Type.Date, ArrowDate.createDate(builder, DateUnit.MILLISECOND)];
    case "time32":
    case "time64":
      return [Type.Time, Time.createTime(builder, timeUnits.indexOf(type.unit), type.kind === "time32" ? 32 : 64)];
    case "duration":
      return [Type.Duration, Duration.createDuration(builder, timeUnits.indexOf(type.unit))];
    case "timestamp": {
      const zone = type.zone === undefined ? 0 : builder.createString(type.zone);
      return [Type.Timestamp, Timestamp.createTimestamp(builder, timeUnits.indexOf(type.unit), zone)];
    }
    case "fixedSizeList":
      return [Type.FixedSizeList, FixedSizeList.createFixedSizeList(builder, type.length)];
    case "dictionary":
    case "unknown":
      // zod refuses steps with a dictionary of dictionaries or an unknown type.
      throw new TypeError(`no Arrow type for ${type.kind}`);
    default: {
      const signed = type.kind.startsWith("int");
      const bits = Number(type.kind.replace(/^u?int/, ""));
      return [Type.Int, Int.createInt(builder, bits, signed)];
    }
  }
}

export function toColumn(field: Field): Column {
  const children = Array.from({ length: field.childrenLength() }, (_, index) => toColumn(field.children(index)!));
  const stored = toType(field, children);
  const dictionary = field.dictionary();
  const type: DataType =
    dictionary === null ? stored : { kind: "dictionary", index: toInteger(dictionary.indexType()), value: stored };
  const metadata = metadataOf(field);
  const column = { name: textOf(field.name(Encoding.UTF8_BYTES)), type, nullable: field.nullable() };
  return Object.keys(metadata).length === 0 ? column : { ...column, metadata };
}

function toType(field: Field, children: readonly Column[]): DataType {
  switch (field.typeType()) {
    case Type.Int:
      return toInteger(field.type(new Int()));
    case Type.FloatingPoint:
      return { kind: floatKinds[(field.type(new FloatingPoint()) as FloatingPoint).precision() as Precision]! };
    case Type.FixedSizeBinary:
      return { kind: "fixedSizeBinary", length: (field.type(new FixedSizeBinary()) as FixedSizeBinary).byteWidth() };
    case Type.Decimal:
      return toDecimal(field.type(new Decimal()));
    case Type.Date:
      return { kind: (field.type(new ArrowDate()) as ArrowDate).unit() === DateUnit.DAY ? "date32" : "date64" };
    case Type.Time: {
      const time = field.type(new Time()) as Time;
      return { kind: time.bitWidth() === 32 ? "time32" : "time64", unit: timeUnits[time.unit() as ArrowTimeUnit]! };
    }
    case Type.Duration:
      return { kind: "duration", unit: timeUnits[(field.type(new Duration()) as Duration).unit()]! };
    case Type.Timestamp: {
      const timestamp = field.type(new Timestamp()) as Timestamp;
      const unit = timeUnits[timestamp.unit()]!;
      const zone = textOf(timestamp.timezone(Encoding.UTF8_BYTES));
      return zone === "" ? { kind: "timestamp", unit } : { kind: "timestamp", unit, zone };
    }
    case Type.List:
    case Type.LargeList:
      return { kind: field.typeType() === Type.List ? "list" : "largeList", item: children[0]! };
    case Type.FixedSizeList:
      return {
        kind: "fixedSizeList",
        // The engine returns the item as nullable, whatever was declared. Schemas from other sources are read the same
        // way.
        item: { ...children[0]!, name: itemName, nullable: true },
        length: (field.type(new FixedSizeList()) as FixedSizeList).listSize(),
      };
    case Type.Struct_:
      return { kind: "struct", fields: children };
    default: {
      const kind = plainKinds.get(field.typeType());
      if (kind !== undefined) return { kind };
      return { kind: "unknown", name: Type[field.typeType()]?.toLowerCase() ?? `type ${field.typeType()}` };
    }
  }
}

function toInteger(int: Int | null): DataType {
  if (int === null) return { kind: "int32" }; // the format's default index type
  return { kind: `${int.isSigned() ? "int" : "uint"}${int.bitWidth()}` as "int8" };
}

function toDecimal(decimal: Decimal): DataType {
  return decimal.bitWidth() === 128
    ? { kind: "decimal128", precision: decimal.precision(), scale: decimal.scale() }
    : { kind: "unknown", name: `decimal${decimal.bitWidth()}(${decimal.precision()}, ${decimal.scale()})` };
}

interface Annotated {
  customMetadataLength(): number;
  customMetadata(index: number): KeyValue | null;
}

/** The metadata of a schema or a field. */
export function metadataOf(annotated: Annotated): Readonly<Record<string, string>> {
  const entries = Array.from({ length: annotated.customMetadataLength() }, (_, index) => {
    const entry = annotated.customMetadata(index);
    return [entry?.key(Encoding.UTF8_BYTES), entry?.value(Encoding.UTF8_BYTES)].map(textOf);
  });
  // Not by assignment: a key may be "__proto__".
  return Object.fromEntries(entries);
}

/** Not by the accessors themselves, which drop a byte order mark. */
export function textOf(bytes: Uint8Array | string | null | undefined): string {
  return Buffer.from(bytes ?? "").toString("utf8");
}
