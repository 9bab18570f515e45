/** The documents of commands that work on tables or on the ledger. */
import { z } from "zod";
import { planDocumentShape, refusal } from "../../plan/assess/plan-document.ts";
import { databaseEvents, prepareEvent, runEvent } from "./events.ts";
import {
  deferral,
  difference,
  migration,
  migrations,
  milliseconds,
  problem,
  target,
  text,
  texts,
  whole,
  yes,
} from "./shared.ts";

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

const sample = z.union([
  z.strictObject({
    computed: whole,
    failed: whole,
    problems: texts.describe("The first few reasons."),
    failure: text.optional().describe("Why `migrate up` would stop."),
    calls: whole,
    callTime: milliseconds.optional().describe("The median of a call."),
    rowsPerSecond: z.number().optional(),
    isSteady: yes.describe("Whether the first calls are left out of `rowsPerSecond`."),
    total: whole.describe("How many rows the step computes."),
    duration: milliseconds.optional().describe("About how long that takes."),
  }),
  z.strictObject({ untried: text }),
]);

export const rehearse = z.strictObject({
  target,
  tables: z.array(
    z.strictObject({ table: text, rows: whole, cloned: yes.describe("False if the rows were generated.") }),
  ),
  migrations: z.array(
    z.strictObject({
      ...migration.shape,
      steps: z.array(
        z.strictObject({
          step: whole.describe("Counted from 1."),
          kind: text.optional(),
          text,
          class: z
            .enum(["exact", "checked", "restore", "none"])
            .optional()
            .describe("What the plan promises; absent if the file exports its own `down`."),
          verdict: z.enum(["kept", "refused", "broken", "untried"]).describe("Whether the promise holds."),
          reason: text.optional(),
          refusal: refusal.optional().describe("Why the real `migrate up` would refuse the step."),
          sample: sample
            .optional()
            .describe("With `--sample`: what the code did on some rows, or why it was not tried."),
          up: milliseconds.optional(),
          down: milliseconds.optional(),
        }),
      ),
      durations: z.strictObject({
        up: milliseconds.optional(),
        down: milliseconds.optional(),
        again: milliseconds.optional(),
      }),
    }),
  ),
  unreached: migrations.describe("Migrations that an earlier failure left out."),
  problem: problem.optional().describe("What is wrong; the command then exits with the code of this error."),
});

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
