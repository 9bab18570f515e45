/** Columns as shapes, which the types of typed/shape.ts describe: what `history.d.ts` holds. Pure. */
import { formatType, itemName, type Column, type DataType } from "../data-type.ts";

/** Undefined where a list calls its item by another name than the others do: no path in the types leads there. */
export type Shape = string | readonly [head: string, inside: Shape | Shapes] | undefined;

/** By their names. */
export type Shapes = ReadonlyMap<string, Shape>;

export function shapesOf(columns: readonly Column[]): Shapes {
  return new Map(columns.map((column) => [column.name, shapeOf(column)]));
}

export function shapeOf({ type, nullable }: Pick<Column, "type" | "nullable">): Shape {
  const shape = shapeOfType(type);
  if (nullable || shape === undefined) return shape;
  return typeof shape === "string" ? `${shape} not null` : [`${shape[0]} not null`, shape[1]];
}

function shapeOfType(type: DataType): Shape {
  switch (type.kind) {
    case "struct":
      return ["struct", shapesOf(type.fields)];
    case "list":
    case "largeList":
      if (type.item.name !== itemName) return undefined;
      return [type.kind, shapeOf(type.item)];
    case "fixedSizeList":
      return [`fixedSizeList(${type.length})`, shapeOf(type.item)];
    default:
      return formatType(type);
  }
}
