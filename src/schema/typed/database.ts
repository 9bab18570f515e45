/** The database as a type: tables by name, each with its columns and its indexes. */
import type { Altered, Change, Dropped, IndexesLeft, MovedIndexes } from "./alter.ts";
import type { IsField, IsOpen } from "./path.ts";

/** `unknown` for a table that does not exist or can't be determined. */
export type ColumnsOf<Database, Table> = Table extends keyof Database
  ? Database[Table] extends { columns: infer Columns }
    ? Columns
    : unknown
  : unknown;

/** The paths of indexes by name. */
export type IndexesOf<Database, Table> = Table extends keyof Database
  ? Database[Table] extends { indexes: infer Indexes }
    ? Indexes
    : None
  : None;

type None = Readonly<Record<never, string>>;

/** The database with a table added or replaced. */
export type WithTable<Database, Table extends string, Shape> =
  IsUnclear<Database, Table> extends true
    ? unknown
    : { [Name in keyof Database | Table]: Name extends Table ? Shape : Database[Name & keyof Database] };

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

/** After changes of columns. The error of an invalid step is reported at that step, not at the steps after it. */
export type WithChanges<Database, Table extends string, Changes extends Change> =
  IsOpen<Changes["path"]> extends false
    ? Table extends keyof Database
      ? WithTable<
          Database,
          Table,
          {
            columns: Altered<ColumnsOf<Database, Table>, Changes>;
            indexes: MovedIndexes<IndexesOf<Database, Table>, Changes>;
          }
        >
      : Otherwise<Database, Table>
    : unknown;

export type WithoutColumn<Database, Table extends string, Path extends string> =
  IsOpen<Path> extends false
    ? Table extends keyof Database
      ? WithTable<
          Database,
          Table,
          {
            columns: Dropped<ColumnsOf<Database, Table>, Path>;
            indexes: IndexesLeft<IndexesOf<Database, Table>, Path>;
          }
        >
      : Otherwise<Database, Table>
    : unknown;

export type WithColumns<Database, Table extends string, Columns> = Table extends keyof Database
  ? WithTable<
      Database,
      Table,
      {
        columns: unknown extends Columns
          ? unknown
          : unknown extends ColumnsOf<Database, Table>
            ? unknown
            : Omit<ColumnsOf<Database, Table>, keyof Columns> & Columns;
        indexes: IndexesOf<Database, Table>;
      }
    >
  : Otherwise<Database, Table>;

/** With a new column, or with a new field if the name is a path. */
export type WithColumn<Database, Table extends string, Name extends string, Shape> =
  IsField<Name> extends false
    ? WithColumns<Database, Table, string extends Name ? unknown : { [One in Name]: Shape }>
    : IsOpen<Name> extends true
      ? unknown
      : Table extends keyof Database
        ? WithTable<
            Database,
            Table,
            { columns: WithField<ColumnsOf<Database, Table>, Name, Shape>; indexes: IndexesOf<Database, Table> }
          >
        : Otherwise<Database, Table>;

type WithField<Columns, Path extends string, Shape> = unknown extends Columns
  ? unknown
  : Path extends `${infer First}.${infer Rest}`
    ? { [Name in keyof Columns]: Name extends First ? WithFieldInside<Columns[Name], Rest, Shape> : Columns[Name] }
    : { [Name in keyof Columns | Path]: Name extends Path ? Shape : Columns[Name & keyof Columns] };

type WithFieldInside<Column, Path extends string, Shape> = Column extends [infer Head, infer Fields]
  ? [Head, WithField<Fields, Path, Shape>]
  : Column;

export type WithIndexes<Database, Table extends string, Indexes> = Table extends keyof Database
  ? WithTable<
      Database,
      Table,
      { columns: ColumnsOf<Database, Table>; indexes: Omit<IndexesOf<Database, Table>, keyof Indexes> & Indexes }
    >
  : Otherwise<Database, Table>;

export type WithoutIndex<Database, Table extends string, Name extends string> = string extends Name
  ? unknown
  : Table extends keyof Database
    ? WithTable<
        Database,
        Table,
        { columns: ColumnsOf<Database, Table>; indexes: Omit<IndexesOf<Database, Table>, Name> }
      >
    : Otherwise<Database, Table>;

/** After the changes of one call. */
export type WithAlterations<
  Database,
  Table extends string,
  Changes extends readonly Change[],
> = number extends Changes["length"] ? unknown : WithChanges<Database, Table, Changes[number]>;

/** A step on a missing table changes nothing. A step on a table that can't be determined may change any table. */
type Otherwise<Database, Table extends string> = IsUnclear<Database, Table> extends true ? unknown : Database;

type IsUnclear<Database, Table extends string> = unknown extends Database ? true : string extends Table ? true : false;
