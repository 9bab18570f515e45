/**
 * The types of the arguments of steps: names must exist, and casts must be possible. A type resolves to the argument
 * itself if that is valid, and otherwise to the valid values or to a sentence, which TypeScript shows at the argument.
 * The argument itself is a branch of every type, because TypeScript infers from that branch what was written.
 */
import type { Change } from "./alter.ts";
import type { Castable } from "./cast.ts";
import type { ColumnsOf } from "./database.ts";
import type { PathHints, At, IsOpen, ParentOf } from "./path.ts";
import type { Nullable, ShapeOf, WordsOf } from "./shape.ts";

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
      ? `table ${Table} already exists`
      : Table;

/** The path of a column. */
export type PathArgument<Database, Table extends string, Path extends string> =
  IsOpen<Path> extends true ? Path : ExistingPath<ColumnsOf<Database, Table>, Path, Path>;

/** The name of a new column, or the path of a new field, whose struct must exist. */
export type NewColumnArgument<Database, Table extends string, Name extends string> =
  IsOpen<Name> extends true
    ? Name
    : ParentOf<Name> extends `${infer Struct}.`
      ? ExistingPath<ColumnsOf<Database, Table>, Struct, Name>
      : Name;

/** `Argument` if there is a column at the path. */
type ExistingPath<Columns, Path extends string, Argument> = [At<Columns, Path>] extends [never]
  ? PathHints<Columns, Path>
  : Argument;

/** A type to which the column at a path is cast. */
export type TypeArgument<Database, Table extends string, Path extends string, Type, Options> =
  IsOpen<Path> extends true
    ? Type
    : "using" extends keyof Options
      ? Type
      : CastArgument<At<ColumnsOf<Database, Table>, Path>, ShapeOf<Type>, `${Table}.${Path}`, Type>;

type CastArgument<From, To, Place extends string, Type> = [From] extends [never]
  ? Type
  : Castable<Nullable<From>, To> extends false
    ? `the engine can't cast ${Place} from ${WordsOf<Nullable<From>>} to ${WordsOf<To>}`
    : Type;

/** The list of changes of one call. */
export type AlterationsArgument<
  Database,
  Table extends string,
  Changes extends readonly Change[],
> = unknown extends Changes
  ? Changes
  : { readonly [At in keyof Changes]: AlterationArgument<Database, Table, Changes[At]> };

type AlterationArgument<Database, Table extends string, Own> = Own extends Change
  ? {
      readonly [Key in keyof Own]: Key extends "path"
        ? PathArgument<Database, Table, Own["path"]>
        : Key extends "type"
          ? TypeArgument<Database, Table, Own["path"], Own["type"], unknown>
          : Key extends keyof Change
            ? Own[Key]
            : never;
    }
  : Own;
