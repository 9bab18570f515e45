/** The rows that steps insert and change, as types. */
import type { RowValue, RowValues } from "../row-values.ts";
import type { ColumnsOf } from "./database.ts";

/** What `execute` does: sets columns to SQL expressions, or deletes rows. */
type RowChange =
  | { readonly update: Readonly<Record<string, string>>; readonly where?: string }
  | { readonly delete: string };

/** The column that identifies rows. */
export type KeyArgument<Database, Table extends string, Key extends string> =
  unknown extends ColumnsOf<Database, Table>
    ? Key
    : string extends Key
      ? Key
      : Key extends keyof ColumnsOf<Database, Table>
        ? Key
        : keyof ColumnsOf<Database, Table> & string;

export type RowsArgument<Database, Table extends string> =
  unknown extends ColumnsOf<Database, Table>
    ? readonly RowValues[]
    : readonly { readonly [Name in keyof ColumnsOf<Database, Table>]?: RowValue }[];

export type RowChangeArgument<Database, Table extends string> =
  unknown extends ColumnsOf<Database, Table>
    ? RowChange
    : { readonly update: Updated<ColumnsOf<Database, Table>>; readonly where?: string } | { readonly delete: string };

/** SQL expressions by column, whose name may be quoted. */
type Updated<Columns> = { readonly [Name in keyof Columns]?: string } & { readonly [quoted: `\`${string}`]: string };
