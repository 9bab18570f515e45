/**
 * The types of the arguments of steps. A type resolves to the argument itself if that is valid, and otherwise to the
 * valid values or to a sentence, which TypeScript shows at the argument. The argument itself is a branch of every type,
 * because TypeScript infers from that branch what was written.
 */
import type { Change, Dropped, NamesAround } from "./alter.ts";
import type { Castable } from "./cast.ts";
import type { ColumnsOf, IndexesOf } from "./database.ts";
import type { Around, At, IsField, IsOpen, LastOf, ParentOf, StructAt, StructHead, StructOf } from "./path.ts";
import type { IndexKind, IndexType } from "../table-index.ts";
import type { Indexable } from "./indexes.ts";
import type { IsNotNull, Nullable, ShapeOf, WordsOf } from "./shape.ts";

/** The name of a table. */
export type TableArgument<Database, Table extends string> = unknown extends Database
  ? Table
  : string extends Table
    ? Table
    : Table extends keyof Database
      ? Table
      : [keyof Database] extends [never]
        ? "there are no tables at this point"
        : keyof Database & string;

/** The name of a table that does not exist yet. */
export type NewTableArgument<Database, Table extends string> = unknown extends Database
  ? Table
  : string extends Table
    ? Table
    : Table extends keyof Database
      ? `there is a table ${Table} already`
      : Table;

/** The path of a column. */
export type PathArgument<Database, Table extends string, Path extends string> =
  IsOpen<Path> extends true
    ? Path
    : [At<ColumnsOf<Database, Table>, Path>] extends [never]
      ? Around<ColumnsOf<Database, Table>, Path>
      : Path;

/** The path of a column that can be dropped. */
export type DropArgument<Database, Table extends string, Path extends string> = [
  PathArgument<Database, Table, Path>,
] extends [Path]
  ? IsOpen<Path> extends true
    ? Path
    : unknown extends ColumnsOf<Database, Table>
      ? Path
      : IsItem<ColumnsOf<Database, Table>, Path> extends true
        ? `the engine drops a list together with its item; drop the list`
        : [keyof Dropped<ColumnsOf<Database, Table>, Path>] extends [never]
          ? `${Path} is the last column of ${Table}; drop the table instead`
          : Path
  : PathArgument<Database, Table, Path>;

type IsItem<Columns, Path extends string> = Path extends `${infer Parent}.item`
  ? [At<Columns, Parent>] extends [never]
    ? false
    : At<Columns, Parent> extends [infer Head, unknown]
      ? Head extends StructHead
        ? false
        : true
      : false
  : false;

/** A new name for the column at a path. `Changes`: all changes of the same call. */
export type RenameArgument<
  Database,
  Table extends string,
  Path extends string,
  Name extends string,
  Changes extends Change = { readonly path: Path; readonly rename: Name },
> =
  unknown extends ColumnsOf<Database, Table>
    ? Name
    : string extends Name
      ? Name
      : IsOpen<Changes["path"]> extends true
        ? Name
        : Name extends `${string}.${string}`
          ? "the new name is the last part alone, without the path"
          : Name extends LastOf<Path>
            ? `${Table}.${Path} has that name already`
            : Lowercase<Name> extends NamesAround<ColumnsOf<Database, Table>, Changes, Path>
              ? `${PlaceOf<Table, Path>} already has a column ${Name}`
              : Name;

type PlaceOf<Table extends string, Path extends string> =
  ParentOf<Path> extends `${infer Parent}.` ? `${Table}.${Parent}` : Table;

/** The name of a new column, or the path of a new field. */
export type NewColumnArgument<Database, Table extends string, Name extends string> =
  unknown extends ColumnsOf<Database, Table>
    ? Name
    : string extends Name
      ? Name
      : Name extends `${string}.${string}`
        ? NewFieldArgument<ColumnsOf<Database, Table>, Table, Name>
        : Lowercase<Name> extends Lowercase<keyof ColumnsOf<Database, Table> & string>
          ? `${Table} already has a column ${Name}`
          : Name;

type NewFieldArgument<Columns, Table extends string, Path extends string> =
  IsOpen<Path> extends true
    ? Path
    : StructAt<Columns, StructOf<Path>> extends infer Shape
      ? unknown extends Shape
        ? Path
        : Shape extends [string, infer Fields]
          ? IsNotNull<Shape> extends true
            ? `${Table}.${StructOf<Path>} is not null, so it can't get a field; let it hold nulls with setNullable first`
            : Lowercase<LastOf<Path>> extends Lowercase<keyof Fields & string>
              ? `${Table}.${StructOf<Path>} already has a field ${LastOf<Path>}`
              : Path
          : `a field can only be added to a struct, and ${StructOf<Path>} is none`
      : never;

/** The type of a new column. */
export type NewTypeArgument<Database, Name extends string, Column, Options> = unknown extends Database
  ? Column
  : IsField<Name> extends true
    ? "as" extends keyof Options
      ? "a field of a struct is added without values"
      : IsNotNull<ShapeOf<Column>> extends true
        ? "a field of a struct is added nullable"
        : Column
    : "as" extends keyof Options
      ? Column
      : IsNotNull<ShapeOf<Column>> extends true
        ? "a column that is not null needs values for the rows that are there: { as: … }"
        : Column;

/** A type to which the column at a path is cast. */
export type TypeArgument<Database, Table extends string, Path extends string, Type, Options> =
  IsOpen<Path> extends true
    ? Type
    : "using" extends keyof Options
      ? Type
      : CastArgument<At<ColumnsOf<Database, Table>, Path>, ShapeOf<Type>, `${Table}.${Path}`, Type>;

type CastArgument<From, To, Place extends string, Type> = unknown extends From
  ? Type
  : unknown extends To
    ? Type
    : [From] extends [never]
      ? Type
      : IsSame<Nullable<From>, To> extends true
        ? `${Place} is ${WordsOf<To>} already`
        : Castable<Nullable<From>, To> extends false
          ? `the engine can't cast ${Place} from ${WordsOf<Nullable<From>>} to ${WordsOf<To>}`
          : Type;

type IsSame<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

/** The new nullability of the column at a path. */
export type NullableArgument<Database, Table extends string, Path extends string, Value> = boolean extends Value
  ? Value
  : IsOpen<Path> extends true
    ? Value
    : NullabilityArgument<At<ColumnsOf<Database, Table>, Path>, Value, `${Table}.${Path}`>;

type NullabilityArgument<Shape, Value, Place extends string> = unknown extends Shape
  ? Value
  : [Shape] extends [never]
    ? Value
    : [IsNotNull<Shape>, Value] extends [true, false]
      ? `${Place} is not null already`
      : [IsNotNull<Shape>, Value] extends [false, true]
        ? `${Place} is nullable already`
        : Value;

/** The default name of an index. */
export type IndexNameOf<Path extends string> =
  IsOpen<Path> extends true
    ? string
    : Path extends `${infer First}.${infer Rest}`
      ? IndexNameOf<`${First}_${Rest}`>
      : `${Path}_idx`;

/** The path of a column on which an index is created. */
export type IndexedArgument<Database, Table extends string, Path extends string, Name extends string> = [
  PathArgument<Database, Table, Path>,
] extends [Path]
  ? IndexNameOf<Path> extends Name
    ? Name extends keyof IndexesOf<Database, Table>
      ? `${Table} already has an index ${Name}; drop it first, or name this one`
      : Path
    : Path
  : PathArgument<Database, Table, Path>;

/** The name of an index that does not exist yet. */
export type IndexNameArgument<Database, Table extends string, Name extends string> = string extends Name
  ? Name
  : Name extends keyof IndexesOf<Database, Table>
    ? `${Table} already has an index ${Name}; drop it first`
    : Name;

/** The type of an index. */
export type IndexArgument<Database, Table extends string, Path extends string, Kind extends IndexKind> =
  IsOpen<Path> extends true
    ? IndexType<Kind>
    : Indexable<Kind, Nullable<At<ColumnsOf<Database, Table>, Path>>> extends false
      ? `${Kind} is no index for ${WordsOf<Nullable<At<ColumnsOf<Database, Table>, Path>>>}`
      : IndexType<Kind>;

/** The list of changes of one call. Each is checked together with the others. */
export type AlterationsArgument<
  Database,
  Table extends string,
  Changes extends readonly Change[],
> = unknown extends Changes
  ? Changes
  : { readonly [At in keyof Changes]: AlterationArgument<Database, Table, Changes[At], Changes[number]> };

type AlterationArgument<Database, Table extends string, Own, Changes extends Change> = Own extends Change
  ? {
      readonly [Key in keyof Own]: Key extends "path"
        ? PathArgument<Database, Table, Own["path"]>
        : Key extends "rename"
          ? RenameArgument<Database, Table, Own["path"], Own["rename"] & string, Changes>
          : Key extends "type"
            ? TypeArgument<Database, Table, Own["path"], Own["type"], unknown>
            : Key extends "nullable"
              ? NullableArgument<Database, Table, Own["path"], Own["nullable"]>
              : never;
    }
  : Own;
