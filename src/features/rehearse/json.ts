/** What `migrate rehearse` prints with --json. */
import { z } from "zod";
import { refusal } from "../../plan/document/plan-document.ts";
import { rollbackClasses } from "../../plan/rollback/rollback-classes.ts";
import {
  migration,
  migrations,
  milliseconds,
  problem,
  target,
  text,
  texts,
  whole,
  yes,
} from "../../cli/json/shared.ts";

const sample = z.union([
  z.strictObject({
    computed: whole,
    failed: whole,
    problems: texts.describe("The first few reasons."),
    failure: text.optional().describe("Why `migrate up` would stop."),
    calls: whole,
    callTime: milliseconds.optional().describe("The median of a call."),
    rowsPerSecond: z.number().optional(),
    isSteady: yes.describe("Whether the first calls are left out of `rowsPerSecond`."),
    total: whole.describe("How many rows the step computes."),
    duration: milliseconds.optional().describe("About how long that takes."),
  }),
  z.strictObject({ untried: text }),
]);

export const rehearse = z.strictObject({
  target,
  tables: z.array(
    z.strictObject({ table: text, rows: whole, cloned: yes.describe("False if the rows were generated.") }),
  ),
  migrations: z.array(
    z.strictObject({
      ...migration.shape,
      steps: z.array(
        z.strictObject({
          step: whole.describe("Counted from 1."),
          kind: text.optional(),
          text,
          class: z
            .enum(rollbackClasses)
            .optional()
            .describe("What the plan promises; absent if the file exports its own `down`."),
          verdict: z.enum(["kept", "refused", "broken", "untried"]).describe("Whether the promise holds."),
          reason: text.optional(),
          refusal: refusal.optional().describe("Why the real `migrate up` would refuse the step."),
          sample: sample
            .optional()
            .describe("With `--sample`: what the code did on some rows, or why it was not tried."),
          up: milliseconds.optional(),
          down: milliseconds.optional(),
        }),
      ),
      durations: z.strictObject({
        up: milliseconds.optional(),
        down: milliseconds.optional(),
        again: milliseconds.optional(),
      }),
    }),
  ),
  unreached: migrations.describe("Migrations that an earlier failure left out."),
  problem: problem.optional().describe("What is wrong; the command then exits with the code of this error."),
});
