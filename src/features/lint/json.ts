/** What `migrate lint` prints with --json. */
import { z } from "zod";
import { text, whole } from "../../cli/json/shared.ts";

export const lint = z.strictObject({
  files: whole.describe("How many migrations were checked."),
  problems: z.array(
    z.strictObject({
      code: text,
      message: text,
      details: z.unknown().describe("What the message is made from; differs by code."),
    }),
  ),
  losses: z
    .array(
      z.strictObject({
        place: z.strictObject({
          file: text,
          step: whole.describe("Counted from 1."),
          of: z.enum(["down", "ran"]).optional(),
          kind: text.optional(),
        }),
        text,
      }),
    )
    .describe("Steps that lose data, which the migration consents to."),
  lock: text.optional().describe("The path of `lock.json`, if `--write` wrote it."),
  findings: z
    .array(
      z.strictObject({
        file: text,
        line: whole,
        column: whole,
        rule: text.describe("The rule, or the code of an error."),
        severity: z.enum(["error", "warning", "note"]),
        message: text,
      }),
    )
    .describe("Everything that was found, problems too, in the order of the files."),
});
