/** The documents of commands that work on tables or on the ledger. */
import { z } from "zod";
import { planDocumentShape } from "../../plan/assess/plan-document.ts";
import { databaseEvents, prepareEvent, runEvent } from "./events.ts";
import { deferral, difference, migration, migrations, problem, target, text, texts, whole, yes } from "./shared.ts";

/** What `up` does with one database of several. */
export const upResult = z.strictObject({
  applied: whole.describe("How many migrations ran."),
  total: whole.describe("How many are applied now."),
  deferred: z.array(deferral).optional().describe("Absent if no index is deferred."),
});

export const plan = planDocumentShape;
export const up = z.union([runEvent, databaseEvents(upResult)]);
export const down = runEvent;
export const prepare = z.union([runEvent, prepareEvent]);

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
