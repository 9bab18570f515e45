import type { Computation } from "../../../actions/model/computation.ts";
import type { TableArgument } from "../../../schema/typed/arguments.ts";
import type { KeyArgument } from "../../../schema/typed/rows.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import {
  computation,
  computationOptions,
  defineStep,
  movedComputation,
  ownName,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = {
  table: tableName,
  ...computation,
  from: tableName,
  columns: (schemas: Schemas) => schemas.computation.from,
  source: ownName("the column with the key of the source"),
  mark: ownName("the column with the marks"),
};

type StepFields = FieldsOf<typeof fields>;

interface PopulateTable extends StepDefinition<"populateTable", StepFields> {
  <
    Database,
    Table extends string,
    From extends string,
    Name extends string,
    Key extends string,
    Source extends string,
    Mark extends string,
  >(
    table: TableArgument<NoInfer<Database>, Table>,
    options: Omit<Computation, "from" | "key" | "with"> & {
      readonly from: TableArgument<NoInfer<Database>, From>;
      readonly columns: readonly KeyArgument<NoInfer<Database>, From, Name>[];
      readonly key: KeyArgument<NoInfer<Database>, From, Key>;
      readonly source: KeyArgument<NoInfer<Database>, Table, Source>;
      readonly mark: KeyArgument<NoInfer<Database>, Table, Mark>;
      readonly with: string | { readonly command: readonly string[] };
    },
  ): CheckedStep<"populateTable", StepFields, Database, Database>;
}

/**
 * Computes rows of a table from the rows of another one, with code of the project: `with` is a module whose default export
 * gets rows and returns a list of rows for each. Rows whose source has changed are computed again, and those whose source is
 * gone are deleted. Rows in which the column `source` is null stay as they are.
 *
 * @example
 * populateTable("chunks", { from: "documents", columns: ["body"], key: "id", source: "document", mark: "chunked_from", with: "./code/chunks.ts", version: "1" })
 */
export const populateTable: PopulateTable = defineStep({
  kind: "populateTable",
  fields,
  options: ["from", "columns", "key", "source", "mark", ...computationOptions.slice(2)],
  check: ({ with: code }) =>
    typeof code !== "string" && "sql" in code
      ? "with must be the path of a module or { command }: SQL gives one value for a row, and no rows"
      : undefined,
  compile: (step) => [{ ...step, kind: "populateTable" }],
  moved: ({ table, from, columns, source, mark, ...how }, to) => {
    const own = (name: string) => parsePath(to.path(table, formatPath([name])))[0]!;
    const { from: moved, ...others } = movedComputation({ ...how, table: from, from: columns }, to);
    return { ...others, from: to.table(from), columns: moved, source: own(source), mark: own(mark) };
  },
  flags: [
    {
      name: "populate-table",
      describe: "compute rows of a table from those of another one, with code of the project",
      form: 'TABLE:{"from": "TABLE", "columns": ["COLUMN"], "key": "COLUMN", "source": "COLUMN", "mark": "COLUMN", "with": "MODULE", "version": "1"}',
      read: (notation) => ({ table: notation.name(), ...(notation.expect(":").json() as object) }),
    },
  ],
});
