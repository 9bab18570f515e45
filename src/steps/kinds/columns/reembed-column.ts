import type { Computation, Evaluation } from "../../../actions/model/computation.ts";
import { parsePath } from "../../../schema/path.ts";
import type { IndexType } from "../../../schema/table-index.ts";
import { indexSource } from "../../../schema/text/typescript-source.ts";
import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithChanges, WithColumn } from "../../../schema/typed/database.ts";
import type { KeyArgument } from "../../../schema/typed/rows.ts";
import type { NullableType, ShapeOf } from "../../../schema/typed/shape.ts";
import { conditionOf, indexName, recallProblem } from "../tables/create-index.ts";
import {
  columnPath,
  computation,
  computationOf,
  computationOptions,
  dataType,
  defineStep,
  movedComputation,
  optional,
  nameOfIndex,
  ownName,
  recall,
  tableName,
  typeArgument,
  typeOf,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = {
  table: tableName,
  path: columnPath,
  type: dataType,
  ...computation,
  index: optional(({ indexType }: Schemas) => indexType),
  indexName: optional(nameOfIndex),
  ...recall,
  keep: optional(ownName("the column that holds the old values")),
  evaluate: optional(({ evaluation }: Schemas) => evaluation),
  down: optional(({ z, computation: { with: code, version } }: Schemas) => z.strictObject({ with: code, version })),
};

type StepFields = FieldsOf<typeof fields>;

interface ReembedColumn extends StepDefinition<"reembedColumn", StepFields> {
  <
    Database,
    Table extends string,
    Path extends string,
    Key extends string,
    Type extends NullableType,
    Keep extends string = `${Path}_old`,
  >(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    options: Omit<Computation, "from" | "key"> & {
      readonly type: Type;
      readonly from: readonly KeyArgument<NoInfer<Database>, Table, Key>[];
      readonly key: KeyArgument<NoInfer<Database>, Table, Key>;
      readonly index?: IndexType;
      readonly indexName?: string;
      readonly minRecall?: number;
      readonly k?: number;
      readonly sample?: number;
      readonly evaluate?: string | Evaluation;
      readonly keep?: Keep;
      readonly down?: Pick<Computation, "with" | "version">;
    },
  ): CheckedStep<
    "reembedColumn",
    StepFields,
    Database,
    WithColumn<WithChanges<Database, Table, { path: Path; rename: Keep }>, Table, Path, ShapeOf<Type>>
  >;
}

/**
 * Changes the embedding model of a column: computes new values with code of the project in a hidden column, indexes them,
 * and then switches the columns' names in one call. The old column stays, by default as `<column>_old`.
 *
 * @example
 * reembedColumn("documents", "embedding", { type: vector(100), from: ["title"], key: "id", with: "./embed.ts", version: "2" })
 */
export const reembedColumn: ReembedColumn = defineStep({
  kind: "reembedColumn",
  fields,
  options: [
    "type",
    ...computationOptions,
    "index",
    "indexName",
    "minRecall",
    "k",
    "sample",
    "evaluate",
    "keep",
    "down",
  ],
  check: ({ type, index, indexName: name, minRecall, k, sample, evaluate }) =>
    index === undefined && (name ?? minRecall ?? k ?? sample) !== undefined
      ? "indexName, minRecall, k and sample are for index; give it too"
      : evaluate !== undefined && type.kind !== "fixedSizeList"
        ? "evaluate is for a column of vectors; leave it out"
        : recallProblem({ type: index, minRecall, k, sample }),
  arguments: { type: typeArgument, index: { source: indexSource } },
  compile(step) {
    const { table, path, type } = step;
    const computing = computationOf(step);
    const index = step.index && { ...step.index, name: indexNameOf(step) };
    const down = step.down && { ...computing, ...step.down };
    const switched = { ...computing, table, path, type, index, condition: conditionOf(step) };
    return [
      { ...switched, kind: "prepareColumn", evaluate: evaluationOf(step) },
      { ...switched, kind: "switchColumn", keep: keptName(step), down },
      { ...computing, kind: "catchUpColumn", table, path, keep: keptName(step), marked: down?.version },
    ];
  },
  moved: (step, to) => ({
    ...movedComputation(step, to),
    // They keep their default names, which come from the column's old path.
    ...(to.path(step.table, step.path) !== step.path && { keep: keptName(step), indexName: indexNameOf(step) }),
  }),
  flags: [
    {
      name: "reembed-column",
      describe: "compute the values of a column with another embedding model, and switch to it",
      form: 'TABLE.COLUMN:TYPE:{"from": ["COLUMN"], "key": "COLUMN", "with": "MODULE", "version": "2"}',
      read: (notation) => ({
        ...notation.column(),
        type: typeOf(notation.columnType() as never),
        ...(notation.expect(":").json() as object),
      }),
    },
  ],
});

type Named = Pick<StepFields, "path" | "version" | "keep" | "indexName">;

function keptName({ path, keep = `${parsePath(path)[0]!}_old` }: Named): string {
  return keep;
}

function evaluationOf({ evaluate, down }: Pick<StepFields, "evaluate" | "down">) {
  if (evaluate === undefined) return undefined;
  return { ...(typeof evaluate === "string" ? { file: evaluate } : evaluate), ...(down && { old: down }) };
}

/** The index of the old column keeps its name. */
function indexNameOf({ path, version, indexName: name }: Named): string {
  return name ?? `${indexName(path)}_${version.replaceAll(/[^A-Za-z0-9]+/g, "_")}`;
}
