/** What the commands that write migrations print with --json. */
import { z } from "zod";
import { difference, target, text, texts, whole, writtenLock as lock, yes } from "../../cli/json/shared.ts";
import { runEvent } from "../../cli/json/events.ts";
import { planDocumentShape } from "../../plan/document/plan-document.ts";

const file = text.describe("The migration that was written.");
const steps = texts.describe("Its steps, as text.");

export const init = z.strictObject({
  written: texts.describe("The files that were written or changed."),
  next: texts.describe("The commands to run next."),
});

const newMigration = z.strictObject({ file, lock });
export { newMigration as new };

export const inspect = z.strictObject({
  target,
  tables: z.array(
    z.strictObject({
      name: text,
      rows: whole.optional().describe("Absent if the target can't count them."),
      version: whole.optional().describe("Absent if the target does not report it."),
      columns: z.array(z.strictObject({ name: text, type: text, nullable: yes })),
      indexes: z.array(z.strictObject({ name: text, on: text.describe("The path of its column."), type: text })),
      metadata: z.record(text, text).describe("Of the table's schema."),
      viewOf: text.optional().describe("The table from which the engine computes this one, a materialized view."),
      unreadable: texts.optional().describe("Columns that the engine can't read. Then the others are not described."),
    }),
  ),
});

export const dev = z.strictObject({ command: text.describe("What was run."), code: whole.describe("Its exit code.") });

export const reset = z.union([
  z.strictObject({ event: z.literal("reset"), tables: texts.describe("The tables that were dropped.") }),
  runEvent,
]);

export const diff = z.strictObject({
  equal: yes.describe("The metadata of columns and most parameters of indexes are not compared."),
  from: text,
  to: text,
  differences: z.array(
    z.strictObject({
      table: text,
      what: z.enum(["table", "column", "order", "index", "metadata"]).describe("`order`: that of its columns."),
      from: text.optional().describe("What `from` has, as text; absent if it lacks that."),
      to: text.optional().describe("What `to` has."),
    }),
  ),
  unread: texts.describe("What could not be compared."),
});

export const generate = z.union([
  z
    .strictObject({
      file: file.optional().describe("The migration that was written; absent if there is nothing to do."),
      steps,
      lock,
    })
    .describe("Without `--check`."),
  z
    .strictObject({
      equal: yes.describe("Whether the migrations lead to the tables that the schema declares."),
      steps: texts.describe("The steps that are missing."),
      unsure: z
        .array(
          z.strictObject({
            gone: text,
            names: texts,
            note: text.optional().describe("What to do where the target can't rename the table."),
            answers: texts.describe("The flags that answer it."),
          }),
        )
        .describe("What is gone, and may have become one of these new names."),
      impossible: texts.describe("What no steps lead to."),
    })
    .describe("With `--check`, and before the error if something is unsure."),
]);

export const push = z.intersection(
  planDocumentShape,
  z.object({
    later: texts.describe("Vector indexes that need rows first."),
    others: texts.describe("Tables in neither the migrations nor the schema, which are left alone."),
    dryRun: yes,
  }),
);

export const rebase = z.strictObject({
  onto: text,
  incoming: texts.describe("The migrations that were merged."),
  migrations: z
    .array(
      z.strictObject({
        from: text,
        to: text,
        changes: z
          .array(z.strictObject({ before: text, after: text }))
          .describe("Steps with other names now, as text."),
      }),
    )
    .describe("Those of this branch."),
  commute: yes.describe("Whether both orders lead to the same tables."),
  apart: texts.describe("Why they do not."),
  notes: texts,
  lock,
});

export const squash = z.strictObject({
  file: file.optional().describe("Absent with `--dry-run`."),
  replaces: texts,
  steps: whole.describe("How many steps it has."),
  kept: texts.describe("Tables whose steps stay as they were, because they insert rows."),
  left: texts.describe("What is not in it."),
  proven: whole.optional().describe("How many tables came out the same from both on the engine."),
  unproven: text.optional().describe("Why that could not be tried."),
  lock,
});

const pulled = { schema: text.describe("The path of the schema."), tables: texts };

export const pull = z.union([
  z
    .strictObject({ file, ...pulled, steps, left: texts.describe("What could not be pulled."), lock })
    .describe("Without `--schema`."),
  z.strictObject(pulled).describe("With `--schema`."),
]);

export const verify = z
  .strictObject({
    target,
    differences: z.array(difference),
    file: text.optional().describe("The migration that was written; absent if nothing differs."),
    steps: texts,
    left: texts.describe("What no step expresses."),
    lock,
  })
  .describe("With `--write`.");
