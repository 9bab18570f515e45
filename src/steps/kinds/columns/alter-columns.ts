import { typeSource, valueSource, type Source } from "../../../schema/text/typescript-source.ts";
import type { ColumnType, NullableType } from "../../../schema/typed/shape.ts";
import type { DataType } from "../../../schema/data-type.ts";
import type { Notation } from "../../../schema/text/parse-notation.ts";
import type { AlterationsArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithAlterations } from "../../../schema/typed/database.ts";
import {
  defineStep,
  tableName,
  typeOf,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

/** One change of `alterColumns`: a path, and at least one of `rename`, `type` and `nullable`. */
export type ColumnChange = { readonly path: string } & (
  | { readonly rename: string; readonly type?: NullableType; readonly nullable?: boolean }
  | { readonly rename?: string; readonly type: NullableType; readonly nullable?: boolean }
  | { readonly rename?: string; readonly type?: NullableType; readonly nullable: boolean }
);

const fields = {
  table: tableName,
  alterations: ({ z, columnPath, dataType }: Schemas) =>
    z
      .array(
        z
          .strictObject(
            {
              path: columnPath,
              rename: z.string("must be the new name").optional(),
              type: dataType.optional(),
              nullable: z.boolean("must be true or false").optional(),
            },
            { error: (issue) => (issue.code === "unrecognized_keys" ? undefined : "must be an object with a path") },
          )
          .refine(
            ({ rename, type, nullable }) => rename !== undefined || type !== undefined || nullable !== undefined,
            "must have one of rename, type and nullable",
          ),
        "must be a list of changes",
      )
      .min(1, "must have at least one change"),
};

type StepFields = FieldsOf<typeof fields>;

interface AlterColumns extends StepDefinition<"alterColumns", StepFields> {
  <Database, Table extends string, const Changes extends readonly ColumnChange[]>(
    table: TableArgument<NoInfer<Database>, Table>,
    alterations: AlterationsArgument<NoInfer<Database>, Table, Changes>,
  ): CheckedStep<"alterColumns", StepFields, Database, WithAlterations<Database, Table, Changes>>;
}

/**
 * Makes several changes of one table in one atomic call. Every path refers to the table before the call, so two names
 * can be swapped.
 *
 * @example
 * alterColumns("documents", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }])
 */
export const alterColumns: AlterColumns = defineStep({
  kind: "alterColumns",
  fields,
  arguments: { alterations: { build: changesOf, source: changesSource } },
  compile: ({ table, alterations }) => [{ kind: "alterColumns", table, alterations }],
  moved: ({ table, alterations }, to) => ({
    alterations: alterations.map((one) => ({ ...one, path: to.path(table, one.path) })),
  }),
  flags: [
    {
      name: "alter",
      describe: "several changes of one table at once, such as a swap of two names",
      form: 'TABLE:[{"path": "COLUMN", "rename": "NAME", "type": "TYPE", "nullable": true}, …]',
      read(notation) {
        const table = notation.name();
        const changes = notation.expect(":").json();
        return {
          table,
          alterations: Array.isArray(changes) ? changes.map((one) => withReadType(one, notation)) : changes,
        };
      },
    },
  ],
});

function changesOf(changes: readonly ColumnChange[]): unknown {
  if (!Array.isArray(changes)) return changes;
  return (changes as readonly ColumnChange[]).map((change) =>
    change?.type === undefined ? change : { ...change, type: typeOf(change.type) ?? null },
  );
}

function changesSource(changes: StepFields["alterations"]): Source {
  return { kind: "array", items: changes.map(({ type, ...change }) => changeSource(change, type)) };
}

function changeSource(change: Readonly<Record<string, unknown>>, type: DataType | undefined): Source {
  const source = valueSource(change);
  if (type === undefined || source.kind !== "object") return source;
  return { kind: "object", entries: [...source.entries, ["type", typeSource(type)]] };
}

/** Parses the type of a change, which is a text in the JSON. */
function withReadType(change: unknown, notation: Notation): unknown {
  const text = (change as { readonly type?: unknown } | null)?.type;
  return typeof text === "string"
    ? { ...(change as object), type: typeOf(wholeType(notation.inner(text)) as ColumnType) }
    : change;
}

function wholeType(notation: Notation): unknown {
  const type = notation.type();
  notation.end();
  return type;
}
