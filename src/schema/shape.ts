/** Columns as shapes, which the types of typed/shape.ts describe: what `history.d.ts` holds. Pure. */
import { formatType, type Column, type DataType } from "./data-type.ts";

export type Shape = string | readonly [head: string, inside: Shape | Shapes];

/** By their names. */
export type Shapes = ReadonlyMap<string, Shape>;

export function shapesOf(columns: readonly Column[]): Shapes {
  return new Map(columns.map((column) => [column.name, shapeOf(column)]));
}

export function shapeOf({ type, nullable }: Pick<Column, "type" | "nullable">): Shape {
  const shape = shapeOfType(type);
  if (nullable) return shape;
  return typeof shape === "string" ? `${shape} not null` : [`${shape[0]} not null`, shape[1]];
}

function shapeOfType(type: DataType): Shape {
  switch (type.kind) {
    case "struct":
      return ["struct", shapesOf(type.fields)];
    case "list":
    case "largeList":
      return [type.kind, shapeOf(type.item)];
    case "fixedSizeList":
      return [`fixedSizeList(${type.length})`, shapeOf(type.item)];
    default:
      return formatType(type);
  }
}
