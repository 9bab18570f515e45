/**
 * zod schemas of what steps contain. Loaded when the first step is checked: a run with nothing pending checks none, and
 * does not have the time to load zod.
 */
import { array, boolean, int, literal, number, record, strictObject, string, union } from "zod";
import { indexNameProblem } from "../../schema/names.ts";
import { sqlProblem } from "../../schema/sql.ts";

export { column, dataType, rows, schemaMetadata } from "../../schema/declare/validate.ts";
export { indexType } from "../../schema/declare/index-options.ts";

/** What step kinds use of zod. The bundle has only this of it, not all of `z`. */
export const z = { array, boolean, literal, record, strictObject, string, union };

/** The name of a table. The models of actions check it further. */
export const tableName = z.string("must be the name of a table").min(1, "must be the name of a table");

/** A dotted path to a column. */
export const columnPath = z.string("must be the path of a column").min(1, "must be the path of a column");

/** A name, such as that of an index. `of`: its description, for messages. */
export const ownName = (of: string) =>
  z
    .string(`must be the name of ${of}`)
    .min(1, `must be the name of ${of}`)
    .refine((name) => name !== "." && name !== "..", "can't be . or .., which lead elsewhere in an address");

/** The name of an index. */
export const nameOfIndex = ownName("an index").superRefine((name, context) => {
  const message = indexNameProblem(name);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

/** An SQL expression. */
export const sql = z
  .string("must be an SQL expression")
  .min(1, "must be an SQL expression")
  .superRefine((expression, context) => {
    const problem = sqlProblem(expression);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

const wholeFrom1 = int("must be a whole number from 1").min(1, "must be a whole number from 1");

/** How code of the project computes values. */
export const computation = {
  from: array(ownName("a column"), "must be a list of columns").min(1, "must name at least one column"),
  key: ownName("the column that identifies rows"),
  with: union(
    [
      string().min(1),
      strictObject({ command: array(string().min(1)).min(1, "must name a program") }),
      strictObject({ sql }),
    ],
    'must be the path of a module, { command: ["program", "argument"] }, or { sql: "an expression" }',
  ),
  version: string('must be a text, such as "1"').min(1, 'must be a text, such as "1"'),
  where: sql.optional(),
  batch: wholeFrom1.optional(),
  concurrency: wholeFrom1.optional(),
  callsPerMinute: wholeFrom1.optional(),
  callSeconds: wholeFrom1.max(86_400, "must be at most a day").optional(),
  failedRows: union([literal("stop"), literal("leave")], 'must be "stop" or "leave"').optional(),
  equalRows: union([literal("once"), literal("each")], 'must be "once" or "each"').optional(),
  pricePer1000Rows: number("must be a number from 0").min(0, "must be a number from 0").optional(),
};

const share = "must be a number greater than 0, and at most 1";

/** With which queries a new embedding model is evaluated. */
export const evaluation = union(
  [
    string().min(1, "must be the path of a module"),
    strictObject({
      file: string().min(1, "must be the path of a module"),
      k: wholeFrom1.max(1_000, "must be at most 1000").optional(),
      least: number(share).gt(0, share).max(1, share).optional(),
    }),
  ],
  "must be the path of a module, or { file, k, least }",
);

/** What recall a vector index must have. The limits are those of memory. */
export const recall = {
  minRecall: number(share).gt(0, share).max(1, share).optional(),
  k: wholeFrom1.max(1_000, "must be at most 1000").optional(),
  sample: wholeFrom1.max(1_000, "must be at most 1000").optional(),
};
