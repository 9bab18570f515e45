/** What `migrate contract` prints with --json. */
import { z } from "zod";
import { text, texts, yes } from "../../cli/json/shared.ts";

export const contract = z.union([
  z
    .strictObject({
      file: text,
      written: yes.describe("False if it was up to date."),
      gone: texts.describe("What it had and the tables do not have any more."),
      left: texts.describe("Tables and columns that it leaves out."),
    })
    .describe("Without `--check`."),
  z
    .strictObject({ file: text, stale: yes.describe("Whether it is missing or out of date.") })
    .describe("With `--check`."),
]);
