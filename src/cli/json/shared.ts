/** Parts that the documents of several commands have. */
import { z } from "zod";
import { phases } from "../../run/phase.ts";

export const text = z.string();
export const texts = z.array(text);
export const whole = z.int().min(0);
export const yes = z.boolean();
export const writtenLock = text.optional().describe("The path of `lock.json`, if it was written.");
export const time = text.meta({ format: "date-time" });
export const milliseconds = z.number().min(0);
export const target = text.describe("The name of the target.");

export const migration = z.strictObject({ version: whole, name: text }).meta({
  id: "migrationName",
  description: "The number and the name of a migration.",
});
export const migrations = z.array(migration);

export const stale = z
  .array(
    z.strictObject({
      table: text,
      path: text.describe("The column that has taken the place of another one, or that a rollback has put back."),
      old: text
        .optional()
        .describe("The old column. Rows are looked for until it is dropped. Absent after a rollback."),
      upTo: text.optional().describe("After a rollback: `migrate up --to` with this computes the values."),
      rows: z.strictObject({
        missing: whole.describe("Rows without a value."),
        outdated: whole.describe("Rows with the value of former sources."),
        failed: whole.describe("Rows for which the code failed."),
      }),
      keys: z.array(z.union([text, z.number()])).describe("The keys of some of these rows, of 1,000 at most."),
      problem: text.optional().describe("Why it is unknown whether there are such rows."),
    }),
  )
  .describe(
    "Columns in use with rows that lack a right value; the next `migrate up` computes it, after a rollback `migrate up --to`.",
  );

export const deferral = z
  .strictObject({
    table: text,
    index: text,
    kind: text.describe("Such as `ivfPq`."),
    vectors: whole
      .optional()
      .describe("How many vectors the table holds, counted up to `needed`. Absent if the table could not be read."),
    needed: whole.describe("How many the index needs at least."),
    problem: text
      .optional()
      .describe("Why it could not be built, although there are enough vectors; or why the table could not be read."),
  })
  .meta({ id: "deferral", description: "A vector index that `migrate up` builds once there are enough vectors." });

export const difference = z
  .strictObject({
    table: text,
    kind: z.enum(["gone", "foreign", "changed"]).describe("`foreign`: it exists, but should not."),
    differences: texts,
    since: z
      .strictObject({
        version: whole,
        time: time.optional(),
        orEarlier: yes.describe("Older versions are gone, or were not examined."),
        orLater: yes.describe("It may have disappeared and come back since."),
      })
      .optional()
      .describe("The version of the table that introduced it, if the target reports versions."),
  })
  .meta({ id: "difference", description: "How a table differs from what the ledger records." });

export const progress = z
  .strictObject({
    rows: whole.describe("How many the step computes."),
    computed: whole,
    failed: whole,
    perSecond: z.number().optional().describe("Absent if unknown."),
  })
  .meta({ id: "progress", description: "How many rows of a column `migrate prepare` has computed." });

export const phase = z.enum(phases);

export const measuredRecall = {
  recall: z.number().optional().describe("Absent if no vector has neighbours."),
  sampled: whole.describe("For how many vectors."),
  indexMilliseconds: milliseconds.optional().describe("The median of searches with the index."),
  exactMilliseconds: milliseconds.optional().describe("The median without it."),
};

/** An error that is part of a result. */
export const problem = z.strictObject({ code: text, message: text });

export const errorDocumentShape = z
  .strictObject({ event: z.literal("error"), ...problem.shape })
  .meta({ id: "error", description: "The command failed. Every command may print it, as its last line." });

/** The value of a shape, with everything readonly. */
export type Printed<Shape extends z.ZodType> = Fixed<z.output<Shape>>;

type Fixed<Value> = Value extends object ? { readonly [Key in keyof Value]: Fixed<Value[Key]> } : Value;

export const midway = z
  .strictObject({
    step: text.describe("The short hash of its step."),
    commit: whole.describe("How many of its commits are done."),
    indexes: z.record(text, z.unknown()),
    metadata: z.record(text, z.record(text, text)),
  })
  .meta({ id: "midway", description: "An action of several commits that was interrupted between two of them." });
