/** The columns of a table after changes, as types. */
import type { StructHead } from "./path.ts";
import type { IsNotNull, NotNull, Nullable, ShapeOf } from "./shape.ts";

/** One change of a column; several changes are a union. */
export interface Change {
  readonly path: string;
  readonly rename?: string | undefined;
  readonly type?: unknown;
  readonly nullable?: boolean | undefined;
}

/** The columns after the changes of one call. */
export type Altered<Columns, Changes extends Change, Parent extends string = ""> = unknown extends Columns
  ? unknown
  : {
      [Name in keyof Columns & string as NewName<Changes, `${Parent}${Name}`, Name>]: AlteredColumn<
        Columns[Name],
        Changes,
        `${Parent}${Name}`
      >;
    };

type AlteredColumn<Shape, Changes extends Change, Path extends string> = Altering<
  [Extract<Changes, { path: `${Path}.${string}` }>] extends [never] ? Shape : AlteredInside<Shape, Changes, Path>,
  Extract<Changes, { path: Path }>
>;

type AlteredInside<Shape, Changes extends Change, Path extends string> = Shape extends [infer Head, infer Inner]
  ? Head extends StructHead
    ? [Head, Altered<Inner, Changes, `${Path}.`>]
    : // If the call renames the item, paths into the list can't be resolved.
      [Extract<Changes, { readonly path: `${Path}.item`; readonly rename: string }>] extends [never]
      ? [Head, AlteredColumn<Inner, Changes, `${Path}.item`>]
      : unknown
  : Shape;

type Altering<Shape, Own> = [Own] extends [never]
  ? Shape
  : WithNullability<
      Own extends { readonly type: infer Type } ? SameNullability<Shape, ShapeOf<Type>> : Shape,
      Own extends { readonly nullable: infer Value } ? Value : never
    >;

type SameNullability<Shape, Type> = IsNotNull<Shape> extends true ? NotNull<Type> : Type;

type WithNullability<Shape, Value> = [Value] extends [never]
  ? Shape
  : boolean extends Value
    ? unknown
    : Value extends true
      ? Nullable<Shape>
      : NotNull<Shape>;

type NewName<Changes extends Change, Path extends string, Name extends string> =
  Extract<Changes, { readonly path: Path; readonly rename: string }> extends infer Own
    ? [Own] extends [never]
      ? Name
      : Own extends { readonly rename: infer New extends string }
        ? New
        : Name
    : Name;

/** The columns without one. A struct whose last field is dropped stays here, although the engine drops it too. */
export type Dropped<Columns, Path extends string> = unknown extends Columns
  ? unknown
  : Path extends keyof Columns
    ? { [Name in keyof Columns as Name extends Path ? never : Name]: Columns[Name] }
    : Path extends `${infer First}.${infer Rest}`
      ? { [Name in keyof Columns]: Name extends First ? DroppedInside<Columns[Name], Rest> : Columns[Name] }
      : Columns;

type DroppedInside<Shape, Path extends string> = Shape extends [infer Head extends StructHead, infer Fields]
  ? [Head, Dropped<Fields, Path>]
  : unknown;
