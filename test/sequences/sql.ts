/** SQL as the sequences write it. */
import { isFloat, isInteger, type DataType } from "../../src/schema/data-type.ts";

export function quoted(name: string): string {
  return `\`${name}\``;
}

/** A value that a column of that type surely takes; undefined where there is no short way to write one. */
export function literalOf(type: DataType): string | undefined {
  if (isInteger(type) || isFloat(type)) return "1";
  switch (type.kind) {
    case "bool":
      return "true";
    case "utf8":
    case "largeUtf8":
      return "'a'";
    case "binary":
    case "largeBinary":
      return "X'00'";
    case "date32":
      return "date '2026-11-20'";
    case "timestamp":
      return "timestamp '2026-11-20T12:00:00'";
    default:
      return undefined;
  }
}
