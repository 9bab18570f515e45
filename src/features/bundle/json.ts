/** What `migrate build` prints with --json. */
import { z } from "zod";
import { text, whole, yes } from "../../cli/json/shared.ts";

const bundle = { file: text, migrations: whole.describe("How many are in it.") };

export const build = z.union([
  z.strictObject({ ...bundle, written: yes.describe("False if it was up to date.") }).describe("Without `--check`."),
  z
    .strictObject({ ...bundle, stale: yes.describe("Whether it is missing or out of date.") })
    .describe("With `--check`."),
]);
