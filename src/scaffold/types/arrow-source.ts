/** Types as TypeScript source that creates them with apache-arrow. Pure. */
import { typesWithin, type Column, type DataType } from "../../schema/data-type.ts";
import { call, valueSource, type Source } from "../../schema/text/typescript-source.ts";
import { capital, unitNames } from "../../wire/arrow/arrow-cast.ts";

/** Whether apache-arrow has classes for a type and for all types inside it. */
export function hasArrow(type: DataType): boolean {
  return typesWithin(type).every(({ kind }) => kind !== "largeList" && kind !== "unknown");
}

export function arrowClass(type: DataType): string {
  switch (type.kind) {
    case "date32":
      return "DateDay";
    case "date64":
      return "DateMillisecond";
    case "decimal128":
      return "Decimal";
    case "time32":
    case "time64":
      return `Time${unitNames[type.unit]}`;
    case "timestamp":
    case "duration":
      return `${capital(type.kind)}${unitNames[type.unit]}`;
    default:
      return capital(type.kind);
  }
}

/** A column as a field of an Arrow schema. */
export function fieldSource({ name, type, nullable }: Column): Source {
  return call("new Field", valueSource(name), arrowSource(type), valueSource(nullable));
}

function arrowSource(type: DataType): Source {
  return call(`new ${arrowClass(type)}`, ...argumentsOf(type));
}

/**
 * A helper for files with dictionaries that have 64-bit keys: apache-arrow accepts these keys, but its TypeScript types
 * do not.
 */
export const wideKeys = `function wideKeys(type: unknown): never {
  return type as never;
}
`;

function keysSource(index: DataType): Source {
  const source = arrowSource(index);
  return index.kind.endsWith("64") ? call("wideKeys", source) : source;
}

function argumentsOf(type: DataType): readonly Source[] {
  switch (type.kind) {
    case "fixedSizeBinary":
      return [valueSource(type.length)];
    case "decimal128":
      return [type.scale, type.precision, 128].map(valueSource);
    case "timestamp":
      return type.zone === undefined ? [] : [valueSource(type.zone)];
    case "list":
      return [fieldSource(type.item)];
    case "fixedSizeList":
      return [valueSource(type.length), fieldSource(type.item)];
    case "struct":
      return [{ kind: "array", items: type.fields.map(fieldSource) }];
    case "dictionary":
      return [arrowSource(type.value), keysSource(type.index)];
    default:
      return [];
  }
}
