/** How much memory values take, by their type. Pure. */
import { bits, childColumns, isFloat, isInteger, type DataType } from "./data-type.ts";

export interface Width {
  /** The bytes of the parts that have the same length in every row; may be a fraction. */
  readonly fixed: number;
  /** The number of parts whose length depends on the value: text, bytes, lists. */
  readonly variable: number;
}

const aText: Width = { fixed: 0, variable: 1 };

/** The width of one value in memory; files are compressed. */
export function widthOf(type: DataType): Width {
  if (isInteger(type) || isFloat(type)) return { fixed: bits(type) / 8, variable: 0 };
  switch (type.kind) {
    case "null":
      return { fixed: 0, variable: 0 };
    case "bool":
      return { fixed: 1 / 8, variable: 0 };
    case "date32":
    case "time32":
      return { fixed: 4, variable: 0 };
    case "date64":
    case "time64":
    case "timestamp":
    case "duration":
      return { fixed: 8, variable: 0 };
    case "decimal128":
      return { fixed: 16, variable: 0 };
    case "fixedSizeBinary":
      return { fixed: type.length, variable: 0 };
    case "fixedSizeList": {
      const { fixed, variable } = widthOf(type.item.type);
      return { fixed: fixed * type.length, variable };
    }
    case "struct":
      return sum(childColumns(type).map((child) => widthOf(child.type)));
    case "dictionary":
      return widthOf(type.index);
    default:
      return aText;
  }
}

export function sum(widths: readonly Width[]): Width {
  return widths.reduce(
    (all, { fixed, variable }) => ({ fixed: all.fixed + fixed, variable: all.variable + variable }),
    { fixed: 0, variable: 0 },
  );
}
