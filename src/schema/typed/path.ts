/** Dotted paths through the columns of a table, as types. */

/** The shape of the column at a path: `never` if there is none, `unknown` if it can't be determined. */
export type At<Columns, Path extends string> = unknown extends Columns
  ? unknown
  : Path extends keyof Columns
    ? Columns[Path]
    : Path extends `${infer First}.${infer Rest}`
      ? First extends keyof Columns
        ? Inside<Columns[First], Rest>
        : never
      : never;

type Inside<Shape, Path extends string> = unknown extends Shape
  ? unknown
  : Shape extends [infer Head, infer Inner]
    ? Head extends StructHead
      ? At<Inner, Path>
      : Path extends `item.${infer Rest}`
        ? Inside<Inner, Rest>
        : Path extends "item"
          ? Inner
          : never
    : never;

export type StructHead = "struct" | "struct not null";

/** What could replace a path that leads nowhere: the existing names at that point, or a sentence. */
export type PathHints<
  Columns,
  Path extends string,
  Parent extends string = "",
> = Path extends `${infer First}.${infer Rest}`
  ? First extends keyof Columns
    ? AroundInside<Columns[First], Rest, `${Parent}${First}`>
    : `${Parent}${keyof Columns & string}`
  : `${Parent}${keyof Columns & string}`;

type AroundInside<Shape, Path extends string, Parent extends string> = Shape extends [infer Head, infer Inner]
  ? Head extends StructHead
    ? PathHints<Inner, Path, `${Parent}.`>
    : Path extends `item.${infer Rest}`
      ? AroundInside<Inner, Rest, `${Parent}.item`>
      : `${Parent}.item`
  : `there is nothing inside ${Parent}`;

/** The part of a path before the last name, with its dot. */
export type ParentOf<Path extends string> = Path extends `${infer First}.${infer Rest}`
  ? `${First}.${ParentOf<Rest>}`
  : "";

/** Whether a path can't be resolved: it is not a literal, or names in it are quoted. */
export type IsOpen<Path extends string> = string extends Path
  ? true
  : Path extends `${string}\`${string}`
    ? true
    : false;
