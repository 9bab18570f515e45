import { z } from "zod";
import { text } from "../../cli/json/shared.ts";

/** What `migrate completion` prints with --json. */
export const completion = z.strictObject({ shell: text, script: text });
