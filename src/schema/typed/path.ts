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
          ? // The engine accepts the item of a fixed size list only inside a path to a field of a struct in the list.
            Head extends `fixedSizeList(${string}`
            ? never
            : Inner
          : never
    : never;

export type StructHead = "struct" | "struct not null";

/** What could replace a path that leads nowhere: the existing names at that point, or a sentence. */
export type Around<
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
    ? Around<Inner, Path, `${Parent}.`>
    : Path extends `item.${infer Rest}`
      ? AroundInside<Inner, Rest, `${Parent}.item`>
      : Head extends `fixedSizeList(${string}`
        ? `the engine can't address the item of ${Parent}`
        : `${Parent}.item`
  : `there is nothing inside ${Parent}`;

/** The columns at the level of the last name of a path. */
export type Siblings<Columns, Path extends string> = unknown extends Columns
  ? unknown
  : Path extends `${infer First}.${infer Rest}`
    ? First extends keyof Columns
      ? SiblingsInside<Columns[First], Rest>
      : unknown
    : Columns;

type SiblingsInside<Shape, Path extends string> = Shape extends [infer Head, infer Inner]
  ? Head extends StructHead
    ? Siblings<Inner, Path>
    : Path extends `item.${infer Rest}`
      ? SiblingsInside<Inner, Rest>
      : unknown
  : unknown;

/** The part of a path before the last name, with its dot. */
export type ParentOf<Path extends string> = Path extends `${infer First}.${infer Rest}`
  ? `${First}.${ParentOf<Rest>}`
  : "";

export type LastOf<Path extends string> = Path extends `${string}.${infer Rest}` ? LastOf<Rest> : Path;

/** Whether a path can't be resolved: it is not a literal, or names in it are quoted. */
export type IsOpen<Path extends string> = string extends Path
  ? true
  : Path extends `${string}\`${string}`
    ? true
    : false;

/** Whether a path leads to a field of a struct. */
export type IsField<Path extends string> = string extends Path
  ? false
  : Path extends `${string}.${string}`
    ? true
    : false;

/** The path of the struct that contains a field. */
export type StructOf<Path extends string> = ParentOf<Path> extends `${infer Struct}.` ? Struct : never;

/**
 * The shape of the struct at a path through structs alone; "none" if there is none, `unknown` if it can't be
 * determined.
 */
export type StructAt<Columns, Path extends string> = unknown extends Columns
  ? unknown
  : Path extends keyof Columns
    ? OnlyStruct<Columns[Path]>
    : Path extends `${infer First}.${infer Rest}`
      ? First extends keyof Columns
        ? OnlyStruct<Columns[First]> extends [string, infer Fields]
          ? StructAt<Fields, Rest>
          : OnlyStruct<Columns[First]>
        : "none"
      : "none";

type OnlyStruct<Shape> = unknown extends Shape
  ? unknown
  : Shape extends [infer Head, unknown]
    ? Head extends StructHead
      ? Shape
      : "none"
    : "none";
