/** What `migrate types` prints with --json. */
import { z } from "zod";
import { texts } from "../../cli/json/shared.ts";

export const types = z.union([
  z
    .strictObject({ files: texts, written: texts.describe("Those that were out of date.") })
    .describe("Without `--check`."),
  z.strictObject({ files: texts, stale: texts.describe("Those that are out of date.") }).describe("With `--check`."),
]);
