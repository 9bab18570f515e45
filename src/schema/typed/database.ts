/** The database as a type: tables by name, each with its columns. */
import type { Altered, Change, Dropped } from "./alter.ts";
import type { IsOpen } from "./path.ts";

/** `unknown` for a table that does not exist or can't be determined. */
export type ColumnsOf<Database, Table> = Table extends keyof Database
  ? Database[Table] extends { columns: infer Columns }
    ? Columns
    : unknown
  : unknown;

/** The database with a table added or replaced. */
export type WithTable<Database, Table extends string, Columns> =
  IsUnclear<Database, Table> extends true
    ? unknown
    : {
        [Name in keyof Database | Table]: Name extends Table ? { columns: Columns } : Database[Name & keyof Database];
      };

export type WithoutTable<Database, Table extends string> =
  IsUnclear<Database, Table> extends true
    ? unknown
    : { [Name in keyof Database as Name extends Table ? never : Name]: Database[Name] };

export type WithRenamedTable<Database, Table extends string, Name extends string> =
  | IsUnclear<Database, Table>
  | IsUnclear<Database, Name> extends false
  ? Name extends keyof Database
    ? Database
    : { [Own in keyof Database as Own extends Table ? Name : Own]: Database[Own] }
  : unknown;

/**
 * The database with other columns in a table. A step on a missing table changes nothing, as the error is reported at
 * that step. A step on a table that can't be determined may change any table.
 */
type WithColumns<Database, Table extends string, Columns> = Table extends keyof Database
  ? WithTable<Database, Table, Columns>
  : IsUnclear<Database, Table> extends true
    ? unknown
    : Database;

/** After changes of columns. */
export type WithChanges<Database, Table extends string, Changes extends Change> =
  IsOpen<Changes["path"]> extends false
    ? WithColumns<Database, Table, Altered<ColumnsOf<Database, Table>, Changes>>
    : unknown;

/** After the changes of one call. */
export type WithAlterations<
  Database,
  Table extends string,
  Changes extends readonly Change[],
> = number extends Changes["length"] ? unknown : WithChanges<Database, Table, Changes[number]>;

export type WithoutColumn<Database, Table extends string, Path extends string> =
  IsOpen<Path> extends false ? WithColumns<Database, Table, Dropped<ColumnsOf<Database, Table>, Path>> : unknown;

/** With a new column, or with a new field if the name is a path. */
export type WithColumn<Database, Table extends string, Name extends string, Shape> = WithColumns<
  Database,
  Table,
  IsOpen<Name> extends true ? unknown : WithField<ColumnsOf<Database, Table>, Name, Shape>
>;

type WithField<Columns, Path extends string, Shape> = unknown extends Columns
  ? unknown
  : Path extends `${infer First}.${infer Rest}`
    ? { [Name in keyof Columns]: Name extends First ? WithFieldInside<Columns[Name], Rest, Shape> : Columns[Name] }
    : { [Name in keyof Columns | Path]: Name extends Path ? Shape : Columns[Name & keyof Columns] };

type WithFieldInside<Column, Path extends string, Shape> = Column extends [infer Head, infer Fields]
  ? [Head, WithField<Fields, Path, Shape>]
  : Column;

type IsUnclear<Database, Table extends string> = unknown extends Database ? true : string extends Table ? true : false;
