/** What the commands that write migrations print with --json. */
import { z } from "zod";
import { difference, target, text, texts, writtenLock as lock } from "../../cli/json/shared.ts";

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
