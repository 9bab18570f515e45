/** What `migrate serve` prints with --json. */
import { z } from "zod";
import { text, whole } from "../../cli/json/shared.ts";

export const serve = z.strictObject({ url: text, port: whole, data: text.describe("The folder of the tables.") });
