import { z } from "zod";
import { indexSource, optionsSource, valueSource } from "../../../schema/text/typescript-source.ts";
import { indexType } from "../../../schema/declare/index-options.ts";
import type { IndexType } from "../../../schema/table-index.ts";
import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import {
  columnPath,
  defineStep,
  ownName,
  tableName,
  type CheckedStep,
  type StepDefinition,
} from "../../define/define-step.ts";

/** The default name of an index: the path with `_` for dots, and `_idx`. */
export function indexName(path: string): string {
  return `${path.replaceAll("`", "").replaceAll(".", "_")}_idx`;
}

const fields = z.object({
  table: tableName,
  path: columnPath,
  type: indexType,
  name: ownName("an index").optional(),
});

interface CreateIndex extends StepDefinition<"createIndex", (typeof fields)["shape"]> {
  <Database, Table extends string, Path extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    type: IndexType,
    options?: { readonly name?: string },
  ): CheckedStep<"createIndex", z.output<typeof fields>, Database, NoInfer<Database>>;
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
  build: (table: string, path: string, type: IndexType, options: { readonly name?: string } = {}) => ({
    table,
    path,
    type,
    ...options,
  }),
  compile: ({ table, path, type, name }) => [
    { kind: "createIndex", table, name: name ?? indexName(path), index: { path, ...type } },
  ],
  source: ({ table, path, type, name }) => [
    valueSource(table),
    valueSource(path),
    indexSource(type),
    ...optionsSource({ name }),
  ],
  // The index keeps its default name, which comes from the column's old path.
  moved: ({ table, path, name = indexName(path) }, to) => (to.path(table, path) === path ? {} : { name }),
  flags: [
    {
      name: "create-index",
      describe: "index a column",
      form: "TABLE.COLUMN:INDEX[(OPTION: VALUE, …)] [as NAME]",
      read(notation) {
        const column = notation.column();
        notation.expect(":");
        return { ...column, type: notation.index(), ...(notation.takes("as") && { name: notation.name() }) };
      },
    },
  ],
});
