/** What `migrate prepare` prints with --json. */
import { z } from "zod";
import { event, runEvent } from "../../cli/json/events.ts";
import { migration, progress, text, texts, whole } from "../../cli/json/shared.ts";

const last = z.discriminatedUnion("event", [
  event(
    "discarded",
    "What was prepared in these tables is dropped, and this many computed values that were not in a column yet.",
    { tables: texts, values: whole },
  ),
  event(
    "prepared",
    "What is prepared, after everything else. A column has either `progress`, or the migration that it waits for.",
    {
      columns: z.array(
        z.strictObject({
          ...migration.shape,
          table: text,
          path: text,
          waitsFor: migration.optional().describe("It is pending and changes the table first."),
          progress: progress.optional(),
          neighbours: z
            .strictObject({ k: whole, sampled: whole, shared: z.number() })
            .optional()
            .describe("How many of the `k` nearest rows are the same with the new values, on average."),
        }),
      ),
    },
  ),
]);

export const prepare = z.union([runEvent, last]);
