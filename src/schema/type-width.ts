/** How much memory values take, by their type. Pure. */
import { childColumns, fixedBytes, type DataType } from "./data-type.ts";

interface Width {
  /** The bytes of the parts that have the same length in every row; may be a fraction. */
  readonly fixed: number;
  /** The number of parts whose length depends on the value: text, bytes, lists. */
  readonly variable: number;
}

const aText: Width = { fixed: 0, variable: 1 };

/** The width of one value in memory; files are compressed. */
export function widthOf(type: DataType): Width {
  const fixed = fixedBytes[type.kind];
  if (fixed !== undefined) return { fixed, variable: 0 };
  switch (type.kind) {
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
