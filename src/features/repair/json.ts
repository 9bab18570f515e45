/** What the commands for existing databases and repairs print with --json. */
import { z } from "zod";
import {
  deferral,
  difference,
  migration,
  migrations,
  problem,
  target,
  text,
  texts,
  whole,
  yes,
} from "../../cli/json/shared.ts";

export const prune = z.strictObject({
  target,
  kept: z.array(
    z.strictObject({
      name: text.describe("The tag of the version."),
      version: whole,
      table: text,
      migration: text.optional().describe("The migration whose rollback restores it; absent if none does."),
      isGone: yes.describe("Whether a clean-up has deleted it nevertheless, so that it can't be restored."),
      isNeeded: yes.describe("Whether a run may still need it, so that it can't be released now."),
    }),
  ),
  pruned: yes.describe("Whether those that are not needed were released."),
});

export const baseline = z.strictObject({
  target,
  migrations: migrations.describe("Those that were marked, or would be."),
  columns: yes.describe("Whether columns were compared, or only names of tables."),
  done: yes.describe("False with `--dry-run`."),
});

export const resolve = z.strictObject({
  target,
  migration,
  as: z.enum(["reverted", "adopted"]),
  means: texts.describe("What the ledger records, how the tables compare, and what follows."),
  differences: z
    .array(difference)
    .optional()
    .describe("What `migrate verify` would report afterwards; absent if unknown."),
  lease: text.optional().describe("The holder of the lease, if it is another run."),
  done: yes,
});

export const repair = z.strictObject({
  target,
  sees: texts.describe("What was found."),
  does: z.enum(["nothing", "refused", "rebuild"]),
  words: text.describe("What the repair does."),
  done: yes,
  refusal: problem.optional().describe("Why there is no remedy."),
});

export const doctor = z.strictObject({
  target,
  findings: z.array(
    z.strictObject({
      what: text,
      found: yes,
      needed: yes.describe("Whether `migrate up` relies on it."),
      detail: text.optional(),
    }),
  ),
  fit: yes.describe("Whether the target can be migrated."),
  leftBehind: texts.describe("Temporary tables that could not be dropped."),
  deferred: z.array(deferral),
  deferredProblem: text.optional().describe("Why it is unknown whether indexes are deferred."),
});
