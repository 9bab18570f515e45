import type { RecallCondition } from "../../../actions/model/action.ts";
import { indexSource } from "../../../schema/text/typescript-source.ts";
import { isVectorIndex, type IndexType } from "../../../schema/table-index.ts";
import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import {
  columnPath,
  defineStep,
  optional,
  nameOfIndex,
  recall,
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
  name: optional(nameOfIndex),
  replace: optional(({ z }: Schemas) => z.boolean("must be true or false")),
  ...recall,
};

type StepFields = FieldsOf<typeof fields>;

interface RecallRequirement {
  /** The least share of the k nearest neighbours that the index must find, up to 1. Otherwise the step fails. */
  readonly minRecall: number;
  /** 10 by default. */
  readonly k?: number;
  /** For how many vectors of the table this is measured; 200 by default. */
  readonly sample?: number;
}

interface Options {
  readonly name?: string;
  readonly replace?: boolean;
}

interface CreateIndex extends StepDefinition<"createIndex", StepFields> {
  <Database, Table extends string, Path extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    type: IndexType,
    options?: Options | (Options & RecallRequirement),
  ): CheckedStep<"createIndex", StepFields, Database, Database>;
}

/**
 * Creates an index on a column. Its default name is the path with `_` for dots, and `_idx`. With `replace`, it takes
 * the place of an index of that name on the same column, which serves searches until the new one is built.
 *
 * @example
 * createIndex("documents", "id", btree())
 * createIndex("documents", "embedding", ivfPq({ distanceType: "cosine" }), { name: "by_meaning" })
 * createIndex("documents", "embedding", ivfPq({ distanceType: "cosine" }), { minRecall: 0.95 })
 * createIndex("documents", "embedding", ivfPq({ numPartitions: 512 }), { name: "by_meaning", replace: true })
 */
export const createIndex: CreateIndex = defineStep({
  kind: "createIndex",
  fields,
  options: ["name", "replace", "minRecall", "k", "sample"],
  check: recallProblem,
  arguments: { type: { source: indexSource } },
  compile(step) {
    const { table, path, type, name = indexName(path), replace } = step;
    const condition = conditionOf(step);
    const options = { ...(replace === true && { replace }), ...(condition && { condition }) };
    return [{ kind: "createIndex", table, name, index: { path, ...type }, ...options }];
  },
  // The index keeps its default name, which comes from the column's old path.
  moved: ({ table, path, name = indexName(path) }, to) => (to.path(table, path) === path ? {} : { name }),
  flags: [
    {
      name: "create-index",
      describe: "index a column",
      form: "TABLE.COLUMN:INDEX[(OPTION: VALUE, …)] [as NAME] [replace] [with JSON]",
      read(notation) {
        const index = { ...notation.column(), type: notation.expect(":").index() };
        const name = notation.takes("as") && { name: notation.name() };
        const replace = notation.takes("replace") && { replace: true };
        return { ...index, ...name, ...replace, ...(notation.takes("with") && (notation.json() as object)) };
      },
    },
  ],
});

type RecallFields = Pick<StepFields, "minRecall" | "k" | "sample">;

/** What an index must fulfil. */
export function conditionOf({ minRecall, k = 10, sample = 200 }: RecallFields): RecallCondition | undefined {
  return minRecall === undefined ? undefined : { minRecall, k, sample };
}

/** What is wrong with such a condition; undefined if it is right, or if there is none. */
export function recallProblem({
  type,
  minRecall,
  k,
  sample,
}: RecallFields & { readonly type?: IndexType | undefined }): string | undefined {
  if (minRecall === undefined)
    return k === undefined && sample === undefined ? undefined : "k and sample are for minRecall; give it too";
  return type === undefined || isVectorIndex(type)
    ? undefined
    : `minRecall is for vector indexes, and this is ${type.kind}`;
}
