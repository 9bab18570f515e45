import { z } from "zod";
import { columnEvent, milliseconds, presentColumn, target, text, texts, time } from "../../cli/json/shared.ts";

/** What `migrate blame` prints with --json. */
export const blame = z.strictObject({
  target,
  columns: z
    .array(
      z.strictObject({
        names: texts.describe("Each `table.path` that it had, in order."),
        now: presentColumn.optional().describe("Absent if it is dropped. With what the pending migrations would do."),
        events: z
          .array(
            z.strictObject({
              ...columnEvent.shape,
              name: text.describe("The name of the migration."),
              status: z.enum(["applied", "baselined", "partial", "pending"]),
              at: time.optional(),
              by: text.optional().describe("The user, the machine and the process."),
              duration: milliseconds.optional().describe("Of the whole migration, or of its group."),
            }),
          )
          .describe("The newest first."),
      }),
    )
    .describe("The columns that have the name now, then those that had it."),
  problems: texts.describe("What is unknown, and why."),
});
