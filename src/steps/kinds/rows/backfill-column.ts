import type { Computation } from "../../../actions/model/computation.ts";
import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { KeyArgument } from "../../../schema/typed/rows.ts";
import {
  columnPath,
  computation,
  computationOptions,
  defineStep,
  movedComputation,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, path: columnPath, ...computation };

type StepFields = FieldsOf<typeof fields>;

interface BackfillColumn extends StepDefinition<"backfillColumn", StepFields> {
  <Database, Table extends string, Path extends string, Key extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    options: Omit<Computation, "from" | "key"> & {
      readonly from: readonly KeyArgument<NoInfer<Database>, Table, Key>[];
      readonly key: KeyArgument<NoInfer<Database>, Table, Key>;
    },
  ): CheckedStep<"backfillColumn", StepFields, Database, Database>;
}

/**
 * Computes the values of a column with code of the project, in the rows where it is null. `with` is a module whose default
 * export gets rows and returns a value for each.
 *
 * @example
 * backfillColumn("documents", "embedding", { from: ["title"], key: "id", with: "./embedders/hash.ts", version: "1" })
 */
export const backfillColumn: BackfillColumn = defineStep({
  kind: "backfillColumn",
  fields,
  options: computationOptions,
  compile: (step) => [{ ...step, kind: "backfillColumn" }],
  moved: movedComputation,
  flags: [
    {
      name: "backfill-column",
      describe: "compute the values of a column with code of the project",
      form: 'TABLE.COLUMN:{"from": ["COLUMN"], "key": "COLUMN", "with": "MODULE", "version": "1"}',
      read: (notation) => ({ ...notation.column(), ...(notation.expect(":").json() as object) }),
    },
  ],
});
