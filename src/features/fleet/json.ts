/** What `migrate up` and `migrate status` print of several databases with --json. */
import { z } from "zod";
import { statusDocumentShape } from "../../cli/json/inspect.ts";
import { deferral, milliseconds, problem, target, text, texts, whole } from "../../cli/json/shared.ts";

/** What `up` does with one database of several. */
const upResult = z.strictObject({
  applied: whole.describe("How many migrations ran."),
  total: whole.describe("How many are applied now."),
  deferred: z.array(deferral).optional().describe("Absent if no index is deferred."),
});

/** What became of each, then one report. */
const databaseEvents = (result: z.ZodObject) => {
  const ended = z.object({ event: z.literal("ended"), database: text, duration: milliseconds });
  const exit = whole.describe("The exit code that this error has alone.");
  return z.union([
    z.intersection(ended.describe("One database is done."), result),
    z.intersection(ended.describe("One database failed."), problem.extend({ exit })),
    z
      .strictObject({
        event: z.literal("report"),
        target,
        databases: whole,
        succeeded: whole,
        failed: z.array(z.strictObject({ message: text, databases: texts })).describe("Grouped by message."),
        interrupted: texts,
        untried: texts,
        duration: milliseconds,
      })
      .describe("The last line: the results of all databases."),
  ]);
};

export const up = databaseEvents(upResult);
export const status = databaseEvents(statusDocumentShape);

/** What became of one database. */
export const databaseResult = z.union([upResult, statusDocumentShape]);
