/**
 * Which indexes the engine creates on which columns, as types: those that ../table-index.ts allows without options,
 * compared pair by pair in test/types/relations.test.ts. Exception: `ivfFlat` on a vector of uint8, which needs
 * `hamming`.
 */
import type { Nullable } from "./shape.ts";

/** Whether a type without its nullability can have an index. `boolean` if it can't be determined. */
export type Indexable<Kind extends string, Shape> = unknown extends Shape
  ? boolean
  : Kind extends "btree"
    ? Extends<Shape, Sorted>
    : Kind extends "bitmap"
      ? Extends<Shape, Mapped>
      : Kind extends "fm"
        ? Extends<Shape, Text>
        : Kind extends "labelList"
          ? Shape extends [List, infer Item]
            ? Extends<Nullable<Item>, Mapped>
            : false
          : Kind extends "fts"
            ? IsSearched<Shape>
            : Shape extends [`fixedSizeList(${string}`, infer Item]
              ? Extends<Nullable<Item>, Kind extends "ivfFlat" ? Float | "uint8" : Float>
              : false;

type Extends<Shape, Wanted> = unknown extends Shape ? boolean : Shape extends Wanted ? true : false;

type IsSearched<Shape> = unknown extends Shape
  ? boolean
  : Shape extends "utf8" | "largeUtf8"
    ? true
    : Shape extends [List, infer Item]
      ? IsSearched<Nullable<Item>>
      : false;

type List = "list" | "largeList";
type Integer = `int${string}` | `uint${string}`;
type Float = "float16" | "float32" | "float64";
type Text = "utf8" | "largeUtf8" | "binary" | "largeBinary";
type Mapped = Integer | "bool" | Text;
type Sorted =
  | Integer
  | Float
  | "bool"
  | "utf8"
  | `fixedSizeBinary(${string}`
  | "date32"
  | "date64"
  | `time32(${string}`
  | `time64(${string}`
  | `timestamp(${string}`;
