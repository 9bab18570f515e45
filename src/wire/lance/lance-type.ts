/** Types in Lance's own names, as `alter_columns` takes them: `{ type, fields?, length? }`. */
import type { Column, DataType } from "../../schema/data-type.ts";

export interface LanceType {
  readonly type: string;
  readonly fields?: readonly LanceField[];
  readonly length?: number;
}

interface LanceField extends Omit<Column, "type"> {
  readonly type: LanceType;
}

export function toLanceType(type: DataType): LanceType {
  return typeNamed(type, lanceName);
}

export function toField(column: Column): LanceField {
  return fieldNamed(column, lanceName);
}

/** A type in other names. `nameOf`: the name, and the length if there is one, of a type with nothing inside. */
export function typeNamed(type: DataType, nameOf: (type: DataType) => LanceType): LanceType {
  switch (type.kind) {
    case "fixedSizeBinary":
      return { type: "fixed_size_binary", length: type.length };
    case "list":
      return { type: "list", fields: [fieldNamed(type.item, nameOf)] };
    case "largeList":
      return { type: "large_list", fields: [fieldNamed(type.item, nameOf)] };
    case "fixedSizeList":
      return { type: "fixed_size_list", fields: [fieldNamed(type.item, nameOf)], length: type.length };
    case "struct":
      return { type: "struct", fields: type.fields.map((field) => fieldNamed(field, nameOf)) };
    default:
      return nameOf(type);
  }
}

function fieldNamed({ type, ...column }: Column, nameOf: (type: DataType) => LanceType): LanceField {
  return { ...column, type: typeNamed(type, nameOf) };
}

/** Lance's names of the types without parameters, where they are not the type's kind. */
export const lanceNames: Readonly<Partial<Record<DataType["kind"], string>>> = {
  float16: "halffloat",
  float32: "float",
  float64: "double",
  utf8: "string",
  largeUtf8: "large_string",
  largeBinary: "large_binary",
  date32: "date32:day",
  date64: "date64:ms",
};

function lanceName(type: DataType): LanceType {
  return { type: simpleName(type) };
}

function simpleName(type: DataType): string {
  switch (type.kind) {
    case "decimal128":
      return `decimal:128:${type.precision}:${type.scale}`;
    case "time32":
    case "time64":
    case "duration":
      return `${type.kind}:${type.unit}`;
    case "timestamp":
      return `timestamp:${type.unit}:${type.zone ?? "-"}`;
    case "dictionary":
      return `dict:${simpleName(type.value)}:${simpleName(type.index)}:false`;
    case "unknown":
      return type.name.replace(/^decimal256\((\d+), (-?\d+)\)$/, "decimal:256:$1:$2");
    default:
      return lanceNames[type.kind] ?? type.kind;
  }
}
