import { indexSource } from "../../../schema/text/typescript-source.ts";
import type { IndexType } from "../../../schema/table-index.ts";
import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import {
  columnPath,
  defineStep,
  optional,
  ownName,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

/** The default name of an index: the path with `_` for dots, and `_idx`. */
export function indexName(path: string): string {
  return `${path.replaceAll("`", "").replaceAll(".", "_")}_idx`;
}

const fields = {
  table: tableName,
  path: columnPath,
  type: ({ indexType }: Schemas) => indexType,
  name: optional(ownName("an index")),
};

type StepFields = FieldsOf<typeof fields>;

interface CreateIndex extends StepDefinition<"createIndex", StepFields> {
  <Database, Table extends string, Path extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    type: IndexType,
    options?: { readonly name?: string },
  ): CheckedStep<"createIndex", StepFields, Database, Database>;
}

/**
 * Creates an index on a column. Its default name is the path with `_` for dots, and `_idx`.
 *
 * @example
 * createIndex("documents", "id", btree())
 * createIndex("documents", "embedding", ivfPq({ distanceType: "cosine" }), { name: "by_meaning" })
 */
export const createIndex: CreateIndex = defineStep({
  kind: "createIndex",
  fields,
  options: ["name"],
  arguments: { type: { source: indexSource } },
  compile: ({ table, path, type, name }) => [
    { kind: "createIndex", table, name: name ?? indexName(path), index: { path, ...type } },
  ],
  // The index keeps its default name, which comes from the column's old path.
  moved: ({ table, path, name = indexName(path) }, to) => (to.path(table, path) === path ? {} : { name }),
  flags: [
    {
      name: "create-index",
      describe: "index a column",
      form: "TABLE.COLUMN:INDEX[(OPTION: VALUE, …)] [as NAME]",
      read(notation) {
        const index = { ...notation.column(), type: notation.expect(":").index() };
        return { ...index, ...(notation.takes("as") && { name: notation.name() }) };
      },
    },
  ],
});
