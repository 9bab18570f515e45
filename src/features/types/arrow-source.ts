/**
 * Types as TypeScript source that describes them to @lancedb/lancedb (SchemaLike): as a name or as an object. The file
 * needs no apache-arrow then, which applications of some package managers can't import. Pure.
 */
import { typesWithin, type Column, type DataType, type TimeUnit } from "../../schema/data-type.ts";
import { call, valueSource, type Source } from "../../schema/text/typescript-source.ts";
import { unitNames } from "../../wire/arrow/arrow-cast.ts";

/** Whether the client can open a table that has a column of this type. */
export function hasArrow(type: DataType): boolean {
  return typesWithin(type).every(({ kind }) => kind !== "largeList" && kind !== "unknown");
}

/** A column as a field of an Arrow schema. `next` gives each dictionary its number. */
export function fieldSource({ name, type, nullable }: Column, next: () => number): Source {
  if (type.kind === "json" || type.kind === "blob") return call(type.kind, valueSource(name), valueSource(nullable));
  return call("field", valueSource(name), arrowSource(type, next), valueSource(nullable));
}

/** The numbers are those that the Arrow format gives to kinds of types. */
function arrowSource(type: DataType, next: () => number): Source {
  switch (type.kind) {
    case "date32":
      return valueSource("dateDay");
    case "date64":
      return valueSource("dateMillisecond");
    case "time32":
    case "time64":
    case "duration":
      return valueSource(`${type.kind === "duration" ? "duration" : "time"}${unitNames[type.unit]}`);
    case "timestamp":
      return valueSource({ typeId: 10, unit: units[type.unit], timezone: type.zone });
    case "decimal128":
      return valueSource({ typeId: 7, scale: type.scale, precision: type.precision, bitWidth: 128 });
    case "fixedSizeBinary":
      return valueSource({ typeId: 15, byteWidth: type.length });
    case "largeBinary":
      return valueSource({ typeId: 19 });
    case "largeUtf8":
      return valueSource({ typeId: 20 });
    case "list":
      return call("list", fieldSource(type.item, next));
    case "fixedSizeList":
      return call("fixedSizeList", valueSource(type.length), fieldSource(type.item, next));
    case "struct":
      return call("struct", { kind: "array", items: type.fields.map((field) => fieldSource(field, next)) });
    case "dictionary":
      return call(
        "dictionary",
        valueSource(next()),
        withNumber(arrowSource(type.value, next)),
        withNumber(arrowSource(type.index, next)),
      );
    default:
      return valueSource(type.kind);
  }
}

const units: Readonly<Record<TimeUnit, number>> = { s: 0, ms: 1, us: 2, ns: 3 };

/** A type by its number instead of its name, which the client knows only for the types of fields. */
function withNumber(source: Source): Source {
  if (source.kind !== "value") return source;
  return valueSource({ typeId: numbers[String(source.value)] });
}

const numbers: Readonly<Record<string, number>> = {
  null: 1,
  binary: 4,
  utf8: 5,
  bool: 6,
  int8: -2,
  int16: -3,
  int32: -4,
  int64: -5,
  uint8: -6,
  uint16: -7,
  uint32: -8,
  uint64: -9,
  float16: -10,
  float32: -11,
  float64: -12,
  dateDay: -13,
  dateMillisecond: -14,
  timeSecond: -19,
  timeMillisecond: -20,
  timeMicrosecond: -21,
  timeNanosecond: -22,
  durationSecond: -27,
  durationMillisecond: -28,
  durationMicrosecond: -29,
  durationNanosecond: -30,
};

/** The functions that sources call, by name. */
export const helpers: Readonly<Record<string, string>> = {
  schema: `function schema(fields: readonly unknown[]): SchemaLike {
  return { fields } as unknown as SchemaLike;
}
`,
  field: `function field(name: string, type: unknown, nullable: boolean): unknown {
  return { name, type, nullable };
}
`,
  json: `function json(name: string, nullable: boolean): unknown {
  const metadata = new Map([["ARROW:extension:name", "arrow.json"]]);
  return { name, type: "utf8", nullable, metadata };
}
`,
  blob: `function blob(name: string, nullable: boolean): unknown {
  const children = [
    { name: "data", type: { typeId: 19 }, nullable: true },
    { name: "uri", type: "utf8", nullable: true },
    { name: "position", type: "uint64", nullable: true },
    { name: "size", type: "uint64", nullable: true },
  ];
  const metadata = new Map([["ARROW:extension:name", "lance.blob.v2"]]);
  return { name, type: { typeId: 13, children }, nullable, metadata };
}
`,
  list: `function list(item: unknown): unknown {
  return { typeId: 12, children: [item] };
}
`,
  fixedSizeList: `function fixedSizeList(listSize: number, item: unknown): unknown {
  return { typeId: 16, listSize, children: [item] };
}
`,
  struct: `function struct(children: readonly unknown[]): unknown {
  return { typeId: 13, children };
}
`,
  dictionary: `function dictionary(id: number, dictionary: unknown, indices: object): unknown {
  return { typeId: -1, id, dictionary, indices, isOrdered: false };
}
`,
};
