/** What the fields of steps contain. The definitions of step kinds name it, and it becomes zod schemas when steps are checked. */
import type { z } from "zod";
import type * as all from "./schemas.ts";

export type Schemas = typeof all;

/** Gives the schema of a field. */
export type Field<Schema extends z.ZodType = z.ZodType> = (schemas: Schemas) => Schema;

export type FieldSchemas = Readonly<Record<string, Field>>;

/** The values of fields, as a step contains them. */
export type FieldsOf<Shape extends FieldSchemas> = z.output<
  z.ZodObject<{ -readonly [Name in keyof Shape]: ReturnType<Shape[Name]> }>
>;

/** A field that may be absent. */
export const optional =
  <Schema extends z.ZodType>(field: Field<Schema>) =>
  (schemas: Schemas): z.ZodOptional<Schema> =>
    field(schemas).optional();

/** The name of a table. */
export const tableName = (schemas: Schemas) => schemas.tableName;

/** A dotted path to a column. */
export const columnPath = (schemas: Schemas) => schemas.columnPath;

/** A name, such as that of an index. `of`: its description, for messages. */
export const ownName = (of: string) => (schemas: Schemas) => schemas.ownName(of);

/** The name of an index. */
export const nameOfIndex = (schemas: Schemas) => schemas.nameOfIndex;

/** An SQL expression. */
export const sql = (schemas: Schemas) => schemas.sql;

/** The type of a column. */
export const dataType = (schemas: Schemas) => schemas.dataType;

/** What recall a vector index must have: a field for each part. */
export const recall = {
  minRecall: (schemas: Schemas) => schemas.recall.minRecall,
  k: (schemas: Schemas) => schemas.recall.k,
  sample: (schemas: Schemas) => schemas.recall.sample,
};

/** Rows as plain JSON. */
export const rows = (schemas: Schemas) => schemas.rows;
