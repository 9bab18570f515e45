/** The documents of commands that only read. */
import { z } from "zod";
import { newDatabase } from "../../plan/document/plan-document.ts";
import {
  deferral,
  difference,
  measuredRecall,
  midway,
  migration,
  milliseconds,
  phase,
  progress,
  stale,
  target,
  text,
  texts,
  time,
  whole,
  yes,
} from "./shared.ts";

const done = whole.describe("How many of its actions are done.");
const detail = text.optional().describe("Why it stopped.");
const named = migration.shape;

export const statusDocumentShape = z
  .strictObject({
    target,
    applied: z
      .array(
        z.strictObject({
          ...named,
          at: time,
          duration: milliseconds,
          by: text.describe("The user, the machine and the process."),
          checksum: text.describe("SHA-256 of its steps."),
          baselined: yes.describe("It was marked as applied, and never ran here."),
          missing: yes.describe("Its file is not in the migrations folder, or it is not in the bundle."),
        }),
      )
      .describe("In the order in which they ran."),
    reverting: z
      .array(z.strictObject({ ...named, done, total: whole, detail }))
      .describe("Migrations that are being rolled back; the next `migrate down` resumes."),
    begun: z
      .array(z.strictObject({ version: whole, name: text.optional(), done, detail }))
      .describe("Migrations that have begun, and whose files are not in the migrations folder."),
    changed: z
      .array(z.strictObject({ ...named, problem: text }))
      .describe("Migrations whose files have other steps than those that ran."),
    pending: z.array(
      z.strictObject({
        ...named,
        file: text,
        done,
        detail,
        inDoubt: yes.describe("A run may have begun it and did not record the outcome."),
        underWay: yes.describe("That run may still be working on it."),
        preparing: z
          .array(
            z.strictObject({
              table: text,
              path: text,
              state: z
                .enum(["running", "stopped", "ended", "unknown"])
                .describe(
                  "Whether a process works on it now, by the records of its lease. `ended`: the last one has prepared all it was to prepare.",
                ),
              by: text.optional().describe("The user, the machine and the process."),
              since: time.optional().describe("When it began."),
              at: time.optional().describe("When it was heard of last."),
              phase: phase.optional().describe("What it does, or did last."),
              progress,
            }),
          )
          .describe("The columns that `migrate prepare` has begun to prepare for it."),
      }),
    ),
    holder: text.optional().describe("The user, the machine and the process that hold the lease."),
    lease: text.optional().describe("How long the holder has been silent, and what follows from that."),
    doubts: texts.describe("The migrations in doubt or under way, as text."),
    late: z
      .array(
        z.strictObject({
          epoch: whole,
          version: whole,
          action: whole.describe("Counted from 1."),
          isBack: yes.describe("It belongs to the rollback."),
          midway: midway.optional(),
        }),
      )
      .describe("Late calls, whose tables the next `migrate up` checks first."),
    deferred: z.array(deferral),
    stale,
    problem: text.optional().describe("Why `migrate up` refuses, apart from the above."),
    newDatabase,
  })
  .meta({ id: "statusDocument" });

export const status = statusDocumentShape;

export const eventNames = z.enum([
  "taken",
  "renewed",
  "advanced",
  "applied",
  "baselined",
  "reverting",
  "reverted",
  "failed",
  "interrupted",
  "noted",
  "late",
  "looked",
  "rebuilt",
  "released",
]);

const record = z.strictObject({
  epoch: whole,
  number: whole.describe("Its number in the epoch, from 0."),
  event: eventNames,
  at: time.describe("By the writer's clock."),
  by: text,
  run: text.describe("An id of the run."),
  tool: text.describe("The release that wrote it."),
  version: whole.optional(),
  name: text.optional(),
  isNameCut: z.literal(true).optional().describe("`name` is only the beginning of the name."),
  step: whole.optional().describe("How many of `total` actions are done."),
  total: whole.optional(),
  checksum: text.optional(),
  steps: texts.optional(),
  textHash: text.optional().describe("SHA-256 of the file."),
  attempt: whole.optional(),
  duration: milliseconds.optional(),
  tables: z
    .record(
      text,
      z.tuple([
        whole.nullable(),
        whole.nullable(),
        z.union([yes, z.literal("none")]).nullish(),
        z.tuple([z.number().nullable(), z.number().nullable()]).optional(),
      ]),
    )
    .optional()
    .describe(
      'By table: its version before and after; true if others may have written in between, and "none" if only the migration has; and when these versions were created.',
    ),
  lease: milliseconds.optional().describe("Another run may take over after this time without a new record."),
  next: whole.optional().describe("The migration that the run works on next."),
  late: whole.optional().describe("The epoch whose late call was checked."),
  midway: midway.optional(),
  detail: text.optional(),
  applied: text.describe("A hash over all that is applied."),
  previous: text.describe("The hash of the record before it."),
});

export const history = z.strictObject({
  target,
  records: z
    .array(record)
    .describe("In their order, with those of the lease ([what they mean](../internals/ledger.md))."),
  doubts: texts.describe("The migrations in doubt or under way, as text."),
});

export const indexRecall = z.strictObject({
  table: text,
  index: text,
  column: text,
  k: whole,
  ...measuredRecall,
  minRecall: z.number().optional().describe("What its migration requires for this `k`."),
});

export const verify = z.union([
  z
    .strictObject({
      target,
      tables: whole.describe("How many were compared."),
      columns: yes.describe("Whether columns were compared, or only names of tables."),
      differences: z.array(difference),
      hint: text.optional().describe("What to do about them."),
      doubts: texts,
      deferred: z.array(deferral),
      stale,
      recall: z.array(indexRecall).optional().describe("With `--recall`."),
    })
    .describe("Without `--ledger` and `--write`."),
  z
    .strictObject({
      target,
      records: whole.describe("How many were checked."),
      findings: z.array(
        z.strictObject({
          kind: z.enum(["missing", "changed", "added", "twice", "senseless", "applied"]),
          place: text.describe("The record that it is about."),
          sentence: text,
          known: yes.describe("The ledger was rebuilt since, so nothing depends on that record."),
        }),
      ),
    })
    .describe("With `--ledger`."),
]);
