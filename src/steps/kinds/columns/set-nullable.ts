import { z } from "zod";
import { valueSource } from "../../../schema/text/typescript-source.ts";
import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithChanges } from "../../../schema/typed/database.ts";
import { columnPath, defineStep, tableName, type CheckedStep, type StepDefinition } from "../../define/define-step.ts";

const fields = z.object({ table: tableName, path: columnPath, nullable: z.boolean("must be true or false") });

interface SetNullable extends StepDefinition<"setNullable", (typeof fields)["shape"]> {
  <Database, Table extends string, Path extends string, Nullable extends boolean>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    nullable: Nullable,
  ): CheckedStep<
    "setNullable",
    z.output<typeof fields>,
    Database,
    WithChanges<NoInfer<Database>, Table, { path: Path; nullable: Nullable }>
  >;
}

/** Makes a column nullable (`true`) or not null (`false`, which fails if the column contains a null). */
export const setNullable: SetNullable = defineStep({
  kind: "setNullable",
  fields,
  build: (table: string, path: string, nullable: boolean) => ({ table, path, nullable }),
  compile: ({ table, path, nullable }) => [{ kind: "alterColumns", table, alterations: [{ path, nullable }] }],
  source: ({ table, path, nullable }) => [table, path, nullable].map(valueSource),
  flags: [
    {
      name: "nullable",
      describe: "let a column hold nulls",
      form: "TABLE.COLUMN",
      read: (notation) => ({ ...notation.column(), nullable: true }),
    },
    {
      name: "not-null",
      describe: "refuse nulls in a column",
      form: "TABLE.COLUMN",
      read: (notation) => ({ ...notation.column(), nullable: false }),
    },
  ],
});
