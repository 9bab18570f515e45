/** Types in Lance's own names, as `alter_columns` takes them: `{ type, fields?, length? }`. */
import type { Column, DataType } from "../../schema/data-type.ts";

export interface LanceType {
  readonly type: string;
  readonly fields?: readonly LanceField[];
  readonly length?: number;
}

export interface LanceField extends Omit<Column, "type"> {
  readonly type: LanceType;
}

export function toLanceType(type: DataType): LanceType {
  switch (type.kind) {
    case "fixedSizeBinary":
      return { type: "fixed_size_binary", length: type.length };
    case "list":
      return { type: "list", fields: [toField(type.item)] };
    case "largeList":
      return { type: "large_list", fields: [toField(type.item)] };
    case "fixedSizeList":
      return { type: "fixed_size_list", fields: [toField(type.item)], length: type.length };
    case "struct":
      return { type: "struct", fields: type.fields.map(toField) };
    default:
      return { type: simpleName(type) };
  }
}

export function toField({ type, ...column }: Column): LanceField {
  return { ...column, type: toLanceType(type) };
}

function simpleName(type: DataType): string {
  switch (type.kind) {
    case "float16":
      return "halffloat";
    case "float32":
      return "float";
    case "float64":
      return "double";
    case "utf8":
      return "string";
    case "largeUtf8":
      return "large_string";
    case "largeBinary":
      return "large_binary";
    case "date32":
      return "date32:day";
    case "date64":
      return "date64:ms";
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
      return type.kind;
  }
}
