/** Columns as shapes (src/schema/typed/shape.ts), for `history.d.ts`. Pure. */
import { formatType, itemName, type Column, type DataType } from "../data-type.ts";

/** Undefined for a list whose item has another name than `item`: paths in the types can't lead into it. */
export type Shape = string | readonly [head: string, inside: Shape | Shapes] | undefined;

/** Shapes by the names of their columns. */
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
