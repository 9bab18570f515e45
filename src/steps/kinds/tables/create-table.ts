import { fieldsSource } from "../../../schema/text/typescript-source.ts";
import { columnsOf } from "../../../schema/declare/type-builders.ts";
import type { Fields, ShapesOf } from "../../../schema/typed/shape.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import type { NewTableArgument } from "../../../schema/typed/arguments.ts";
import type { WithTable } from "../../../schema/typed/database.ts";
import {
  defineStep,
  optional,
  rows,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = {
  table: tableName,
  columns: ({ z, column }: Schemas) =>
    z.array(column, "must be an object of columns").min(1, "must have at least one column"),
  rows: optional(rows),
  metadata: ({ schemaMetadata }: Schemas) => schemaMetadata.optional(),
};

interface TableOptions {
  readonly rows?: readonly RowValues[];
  /** The metadata of the schema, where LanceDB's clients keep their embedding functions. It can't be changed later. */
  readonly metadata?: Readonly<Record<string, string>>;
}

type StepFields = FieldsOf<typeof fields>;

interface CreateTable extends StepDefinition<"createTable", StepFields> {
  <Database, Table extends string, const Columns extends Fields>(
    table: NewTableArgument<NoInfer<Database>, Table>,
    columns: Columns,
    options?: TableOptions,
  ): CheckedStep<"createTable", StepFields, Database, WithTable<Database, Table, ShapesOf<Columns>>>;
}

/**
 * Creates a table with its columns in this order, empty or with a few rows. JavaScript puts names that are whole
 * numbers first. Pairs, `[["b", int32()], ["1", utf8()]]`, keep their order.
 *
 * @example
 * createTable("documents", { id: int64().notNull(), title: utf8(), embedding: vector(768) })
 * createTable("languages", { code: utf8().notNull(), name: utf8() }, { rows: [{ code: "en", name: "English" }] })
 */
export const createTable: CreateTable = defineStep({
  kind: "createTable",
  fields,
  options: ["rows", "metadata"],
  arguments: { columns: { build: columnsOf, source: fieldsSource } },
  compile: ({ table, columns, rows: values, metadata }) => [
    { kind: "createTable", table, columns, ...(values && { rows: values }), ...(metadata && { metadata }) },
  ],
  flags: [
    {
      name: "create-table",
      describe: "create a table, empty or with a few rows",
      form: "TABLE(COLUMN TYPE [not null], …) [rows JSON | metadata JSON]",
      read(notation) {
        const table = notation.name();
        const columns = notation.columns();
        if (notation.takes("rows")) return { table, columns, rows: notation.json() };
        return { table, columns, ...(notation.takes("metadata") && { metadata: notation.json() }) };
      },
    },
  ],
});
