/** The events of runs, as `migrate up --json` and others print them. */
import { z } from "zod";
import { contractName, newDatabase, risk } from "../../plan/document/plan-document.ts";
import {
  deferral,
  measuredRecall,
  migration,
  migrations,
  phase,
  milliseconds,
  text,
  texts,
  whole,
  yes,
} from "./shared.ts";

export const event = <Name extends string, Shape extends z.ZodRawShape>(name: Name, meaning: string, members: Shape) =>
  z
    .strictObject({
      event: z.literal(name),
      ...members,
      database: text.optional(),
    })
    .describe(meaning);

const named = migration.shape;
const action = { ...named, action: z.int().min(1).describe("Counted from 1."), total: whole, text };
const direction = z.enum(["up", "down"]);
const column = { table: text, path: text };
const computed = { table: text, path: text.optional().describe("Absent if rows of the table are computed.") };
const risks = z.array(risk.pick({ kind: true, text: true }).strict());

const most = z.discriminatedUnion("event", [
  event(
    "waiting",
    "Another run holds the lease. This run takes over after `lease` milliseconds without a record of it. A rollback has `direction`: it then refuses if that run has left a migration half done.",
    {
      by: text,
      lease: milliseconds,
      direction: z.literal("down").optional(),
    },
  ),
  event("takenOver", "The run takes over, because that run has written no record for the whole time of its lease.", {
    by: text,
    isGone: z.literal(true).optional().describe("Its process is gone, so that its lease was not waited for."),
  }),
  event("taking", "The run takes the lease.", {}),
  event("planned", "What will run. `actions` is the number of actions.", {
    direction,
    migrations,
    actions: whole,
    risks,
    newDatabase,
  }),
  event(
    "contracts",
    "The releases whose contracts were checked, if contracts are configured or given; `notes` has what protects nothing, such as an empty folder. If nothing is pending, only if something is noted.",
    { releases: z.array(contractName), notes: texts },
  ),
  event("preparing", "`migrate prepare` begins with a column.", column),
  event(
    "hookFailed",
    "A hook of the configuration has failed at the end of a run that had failed before. The event `error` has the reason of the run.",
    {
      problem: text,
    },
  ),
  event("accepted", "What the rollback loses or reinserts, with your consent.", { words: text }),
  event("recognised", "A renumbered or squashed migration is recorded under its own name.", { was: texts, ...named }),
  event("missing", "These are applied, and have no file in the migrations folder or are not in the bundle.", {
    migrations,
    bundle: text.optional(),
  }),
  event("started", "A migration begins; `done` of its actions are done already.", {
    ...named,
    direction,
    done: whole,
    total: whole,
  }),
  event("group", "A group begins, with this number of calls. Its migrations have no `started`.", {
    migrations,
    calls: whole,
  }),
  event(
    "action",
    "An action begins. In a group, this is a call, of which several run at a time; it has the last migration that changes its table.",
    action,
  ),
  event("done", "The action is done.", { ...action, duration: milliseconds }),
  event("running", "An action takes long; every 2 s.", { ...action, elapsed: milliseconds }),
  event("retried", "An action is tried again.", { ...action, reason: text, problem: text }),
  event(
    "outrun",
    "A change of the table that the computed column needs is tried again, because writes of others have come first this many times.",
    {
      ...column,
      tries: whole,
      elapsed: milliseconds.describe("Since the first try."),
      text: text.describe("The change."),
    },
  ),
  event("computed", "Code of the project has computed this many rows so far; at most once a second.", {
    ...computed,
    rows: whole,
    total: whole.optional().describe("If the rows could be counted."),
  }),
  event(
    "phase",
    "A phase of computing a column begins. While it loads or merges values, at most once a second, how many rows are done; while it computes them, the event `computed` has that.",
    { ...column, phase, rows: whole.optional(), total: whole.optional().describe("If the rows could be counted.") },
  ),
  event("printed", "A command that computes values has printed this line besides its answers.", {
    ...computed,
    line: text,
  }),
  event("loaded", "This many computed values were loaded with files of the column, without moving a row.", {
    ...column,
    rows: whole,
    problem: text.optional().describe("Why others are merged instead."),
  }),
  event(
    "caughtUp",
    "Applications had left this many rows without a right value after a switch; they are computed now.",
    {
      ...column,
      rows: whole,
    },
  ),
  event("notComputed", "This many rows have no value of their present sources; the problem is that of the first.", {
    ...computed,
    rows: whole.optional().describe("Absent if it is unknown whether there are such rows."),
    problem: text,
  }),
  event(
    "deferred",
    "An index is deferred: its table holds `vectors` of the `needed` vectors, or could not be read.",
    deferral.shape,
  ),
  event("indexed", "A deferred index is built.", { table: text, index: text, duration: milliseconds }),
  event(
    "notIndexed",
    "A deferred index could not be built. A later `migrate up` tries again; if the engine has refused the index, once the table has changed.",
    {
      table: text,
      index: text,
      problem: text,
    },
  ),
  event(
    "recall",
    "The recall of a new index, measured with `sampled` vectors, and the median times of searches with the index and without it.",
    {
      table: text,
      index: text,
      k: whole,
      ...measuredRecall,
    },
  ),
  event(
    "evaluated",
    "What the queries of the application find in the new values of a column, and in the old ones. Shares are means, from 0 to 1.",
    {
      ...column,
      least: z.number().optional().describe("The least share that the step accepts."),
      isEnough: yes.describe("If not, `migrate up` does not switch the column."),
      k: whole.describe("How many rows each query looks for."),
      queries: whole,
      recall: z
        .strictObject({ queries: whole, old: z.number().optional(), new: z.number() })
        .optional()
        .describe("The share of the expected rows that were found; absent if no query states what it expects."),
      overlap: z
        .strictObject({ queries: whole, shared: z.number() })
        .optional()
        .describe("The share of the rows that the old values give too; absent if no query has an old vector."),
      samples: z
        .array(z.strictObject({ query: text, expected: texts.optional(), old: texts.optional(), new: texts }))
        .describe("The worst queries, with the keys of the rows that they find."),
    },
  ),
  event("detour", "Others append without pause, so columns are hidden for a moment.", action),
  event(
    "applied",
    "A migration is applied. `group` is the number of migrations that ran as one group with it; then `duration` is that of the group.",
    { ...named, duration: milliseconds, group: whole.optional() },
  ),
  event("reverted", "A migration is rolled back.", { ...named, duration: milliseconds }),
  event("unseen", "A late call may have changed rows of this table. `check` states what to look for.", {
    ...named,
    action: action.action,
    total: whole,
    table: text,
    check: text,
  }),
  event("unkept", "The table's version from before the migration cannot be kept.", {
    ...named,
    table: text,
    problem: text,
  }),
  event(
    "left",
    "The run ends because it has lost the target, the ledger or the lease, or can't read a file of a table. `applied` is the number of migrations that it applied or rolled back. If `isTakenOver` is true, another run may have taken over and be further.",
    { ...named, direction, isTakenOver: z.boolean(), applied: whole, done: whole, total: whole },
  ),
]);

export const runEvent = z
  .union([
    most,
    event("finished", "How many migrations ran.", { applied: whole, duration: milliseconds }),
    event("finished", "How many migrations were rolled back.", { reverted: whole, duration: milliseconds }),
  ])
  .meta({ id: "runEvent", description: "An event of a run." });
