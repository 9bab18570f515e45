/** The documents of `migrate report`, which are also in its pages, and of `migrate blame`. */
import { z } from "zod";
import { costShape } from "../../plan/assess/cost.ts";
import { contractName, refusal, risk, verdictShape } from "../../plan/document/plan-document.ts";
import { rollbackClasses } from "../../plan/rollback/rollback-classes.ts";
import { eventNames, indexRecall } from "../../cli/json/inspect.ts";
import {
  deferral,
  difference,
  milliseconds,
  migration,
  problem,
  progress,
  target,
  text,
  texts,
  time,
  whole,
  yes,
} from "../../cli/json/shared.ts";

const named = migration.shape;

/** A change of a column, or of a field of a struct. */
const columnEvent = z.strictObject({
  version: whole.describe("The migration."),
  step: whole.describe("Counted from 1."),
  change: z.enum([
    "created",
    "renamed",
    "moved",
    "retyped",
    "nullability",
    "filled",
    "computed",
    "indexed",
    "metadata",
    "dropped",
  ]),
  table: text.describe("Where the column is after the change; where it was, if it is dropped."),
  path: text,
  before: text.optional().describe("A name, a type, an index or metadata, depending on the change."),
  after: text.optional().describe("The same after the change."),
});

/** Where a column is now. */
const presentColumn = z.strictObject({ table: text, path: text, type: text });

const reportedMigration = z
  .strictObject({
    ...named,
    status: z
      .enum(["applied", "baselined", "partial", "reverting", "pending", "missing"])
      .describe("`missing`: it ran, and its file is not in the migrations folder."),
    at: time.optional().describe("When it was applied, or was last worked on."),
    by: text.optional(),
    run: text.optional(),
    duration: milliseconds.optional().describe("Of its whole group, if it ran in one."),
    group: whole.optional().describe("Migrations with the same number ran as one group, or would run as one."),
    detail: text.optional().describe("Why it stopped, or under which names it ran."),
    actions: texts.describe("What each action does; empty if the file is missing or can't be loaded."),
    rollback: z
      .strictObject({
        class: z.enum([...rollbackClasses, "written"]),
        text,
        reason: text.optional(),
      })
      .optional()
      .describe("The worst class of its actions; `written` if the file exports `down`."),
    risks: z.array(risk.strict()),
    cost: costShape.optional().describe("Of a pending migration that is in no group."),
    refusals: z.array(refusal).optional().describe("Why `migrate up` would refuse actions of a pending migration."),
  })
  .meta({ id: "reportedMigration" });

const run = z
  .strictObject({
    run: text,
    by: text,
    tool: text,
    began: time,
    ended: time.optional().describe("Absent if the run may still be working."),
    milliseconds: milliseconds.optional(),
    outcome: z
      .enum(["applied", "baselined", "reverted", "failed", "interrupted", "unfinished", "other"])
      .describe("`baselined`: it only marked migrations as applied."),
    events: z.array(
      z.strictObject({
        at: time,
        event: eventNames,
        version: whole.optional(),
        name: text.optional(),
        detail: text.optional(),
      }),
    ),
  })
  .meta({ id: "reportedRun" });

const life = z
  .strictObject({
    names: texts.describe("Each `table.path` that it had, in order."),
    events: z.array(columnEvent),
    now: presentColumn.optional().describe("After the pending migrations; absent if it is dropped."),
    today: presentColumn.optional().describe("Before the pending migrations, if they change this."),
  })
  .meta({ id: "columnLife", description: "A column, or a field of a struct, from its creation to its end." });

/** What every report begins with. */
const head = {
  format: z.literal(1),
  target,
  madeAt: time,
  tool: text.describe("The release that made it."),
};

const ofOne = z.strictObject({
  ...head,
  migrations: z.array(reportedMigration).describe("Those that ran, in that order, then those that are pending."),
  runs: z.array(run).describe("The newest first."),
  verdict: verdictShape
    .optional()
    .describe("On what is pending, as `migrate plan` gives it; absent if it can't be planned."),
  contracts: z
    .strictObject({ releases: z.array(contractName), notes: texts.describe("What protects nothing.") })
    .optional()
    .describe("What `migrate up` would check, if contracts are configured and it can be planned."),
  tables: z
    .array(
      z.strictObject({
        name: text,
        created: whole.describe("The migration that created it."),
        dropped: whole.optional().describe("The migration that dropped it."),
        columns: z.array(life),
      }),
    )
    .describe("With what the pending migrations would do."),
  tablesProblem: text.optional().describe("Why the columns after some migration are unknown."),
  noReturn: z
    .strictObject({ ...named, why: text })
    .optional()
    .describe("The newest applied migration that can't be rolled back here."),
  drift: z.union([
    z.strictObject({
      checked: z.literal(true),
      columns: yes.describe("Whether columns were compared, or only names of tables."),
      differences: z.array(difference),
    }),
    z.strictObject({ checked: z.literal(false), why: text }),
  ]),
  preparing: z
    .array(z.strictObject({ version: whole, table: text, path: text, ...progress.shape }))
    .describe("The columns that `migrate prepare` has begun to prepare."),
  recall: z.array(indexRecall).optional().describe("With `--recall`."),
  kept: z
    .array(z.strictObject({ table: text, version: whole, migration: text.optional() }))
    .describe("The old versions of tables that are kept for rollbacks."),
  doubts: texts.describe("The migrations in doubt or under way, as text."),
  deferred: z.array(deferral).describe("Indexes that `migrate up` builds once their tables hold enough vectors."),
  lease: text.optional().describe("How long the holder of the lease has been silent, and what follows from that."),
  problems: texts.describe("Why `migrate up` would refuse to run, and what could not be determined, as text."),
});

const nameAndTime = {
  name: text,
  duration: milliseconds.describe("Milliseconds that reading it took."),
};

const fleetDatabase = z
  .union([
    z.strictObject({
      ...nameAndTime,
      applied: whole.describe("How many migrations are applied."),
      last: z
        .strictObject({ ...named, at: time, by: text })
        .optional()
        .describe("The migration that ran last; absent if none has."),
      pending: whole.describe("How many migrations are pending."),
      unfinished: z
        .array(whole)
        .describe("Migrations that have begun and are not complete, or are being rolled back, as numbers."),
      problems: texts.describe("Why `migrate up` would refuse to run, and what is in doubt or under way, as text."),
      holder: text.optional().describe("The user, machine and process that hold the lease."),
    }),
    z.strictObject({ ...nameAndTime, error: problem.describe("Why it could not be read.") }),
  ])
  .meta({ id: "fleetDatabase", description: "One of several databases: how far it is, or why that is unknown." });

const ofAll = z.strictObject({
  ...head,
  databases: z.array(fleetDatabase).describe("In the order of the configuration."),
});

export const report = z.union([ofOne.describe("Without `--fleet`."), ofAll.describe("With `--fleet`.")]);

/** What `migrate blame` prints with --json. */
export const blame = z.strictObject({
  target,
  columns: z
    .array(
      z.strictObject({
        names: texts.describe("Each `table.path` that it had, in order."),
        now: presentColumn.optional().describe("Absent if it is dropped. With what the pending migrations would do."),
        events: z
          .array(
            z.strictObject({
              ...columnEvent.shape,
              name: text.describe("The name of the migration."),
              status: z.enum(["applied", "baselined", "partial", "pending"]),
              at: time.optional(),
              by: text.optional().describe("The user, the machine and the process."),
              duration: milliseconds.optional().describe("Of the whole migration, or of its group."),
            }),
          )
          .describe("The newest first."),
      }),
    )
    .describe("The columns that have the name now, then those that had it."),
  problems: texts.describe("What is unknown, and why."),
});
