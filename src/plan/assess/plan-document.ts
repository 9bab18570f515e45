/** The plan as one JSON document for programs. Its shape is published as docs/plan.schema.json. Pure. */
import { z } from "zod";
import { stepHash } from "../../migrations/checksum.ts";
import { totalOf, type ActionEstimate, type Cost, type Estimate, type Survey } from "./cost.ts";
import type { Direction } from "../compile/compile.ts";
import type { Plan, PlannedAction, PlannedMigration } from "../make-plan.ts";

const text = z.string();
const whole = z.int().min(0);

const action = z
  .looseObject({ kind: text, table: text })
  .describe("As a target executes it: its kind, its table, and what else that kind has.");

const commit = z.object({ text, action });

const calls = z.array(text).describe("Of each commit the request, or the engine's method with what it is given.");

const cost = z.object({
  rows: whole.nullable().describe("Rows in which values are rewritten; null if unknown."),
  bytes: whole.nullable().describe("About how many bytes that is before it is compressed; null if unknown."),
  added: whole.nullable().describe("Rows that are added; null if unknown."),
  indexes: z.array(text).describe("Indexes that are built over all rows."),
  versions: whole.describe("Versions of tables that it makes."),
});

const rollback = z.object({
  class: z.enum(["exact", "checked", "restore", "none"]),
  text,
  reason: text.optional().describe("What may block the rollback, or why there is none, or none by actions."),
  restores: text.optional(),
  actions: z.array(action),
  calls: calls
    .optional()
    .describe("Of these actions; none where an old version is restored, which has no number before `up` begins."),
  cost: cost.optional(),
});

const refusal = z.discriminatedUnion("reason", [
  z.object({ reason: z.literal("consent"), consent: z.enum(["lossy", "irreversible"]), loss: text }),
  z.object({ reason: z.literal("forbidden"), class: rollback.shape.class, problem: text }),
  z.object({ reason: z.literal("failure"), problem: text }),
  z.object({ reason: z.literal("rewrite"), bytes: whole.nullable(), limit: whole }),
]);

const plannedAction = z.object({
  step: z.int().min(1).describe("Counted from 1."),
  kind: text.optional(),
  text,
  commits: z.array(commit).optional(),
  calls: calls.optional(),
  cost: cost.optional(),
  risks: z.array(
    z.object({
      kind: z.enum(["loss", "failure", "writers", "embedding"]),
      text,
      rows: whole.optional().describe("How many rows it is about now, where the target was asked."),
    }),
  ),
  rollback: rollback.optional(),
  refusal: refusal.optional(),
  action,
});

const plannedMigration = z.object({
  version: whole,
  name: text,
  file: text,
  checksum: text.describe("SHA-256 of its steps."),
  steps: z.array(text).describe("A short hash of each step."),
  done: whole.describe("How many of its actions are done already."),
  total: whole,
  down: z.array(text).optional().describe("The rollback that its file exports, as text."),
  actions: z.array(plannedAction),
});

export const planDocumentShape = z.object({
  target: text,
  direction: z.enum(["up", "down"]),
  pending: z.array(plannedMigration).optional().describe("With the direction up: what is applied, in this order."),
  reverting: z
    .array(plannedMigration)
    .optional()
    .describe("With the direction down: what is rolled back, in this order."),
  accepted: z
    .array(text)
    .optional()
    .describe(
      "With the direction down: what is lost, or put back, as was accepted with --accept-loss or --keep-appended.",
    ),
  blocked: z
    .object({ problems: z.array(text), hint: text })
    .optional()
    .describe("With the direction down: the rows that block the rollback, so that it is refused, and how to proceed."),
  totals: z.object({ migrations: whole, actions: whole, ...cost.shape }).optional(),
});

export type PlanDocument = z.output<typeof planDocumentShape>;
type DocumentMigration = z.output<typeof plannedMigration>;
export type DocumentAction = z.output<typeof plannedAction>;

/** The migrations of the document, in either direction. */
export function migrationsOf({ pending, reverting }: PlanDocument): readonly DocumentMigration[] {
  return pending ?? reverting ?? [];
}

/** `survey`: the estimates for the plan's actions, if the target was asked. */
export function planDocument(
  { migrations, accepted = [], blocked }: Plan,
  target: string,
  direction: Direction,
  survey?: Survey,
): PlanDocument {
  return {
    target,
    direction,
    [direction === "up" ? "pending" : "reverting"]: migrations.map((one) => ofMigration(one, survey)),
    ...(accepted.length > 0 && { accepted: [...accepted] }),
    ...(blocked && { blocked: { ...blocked, problems: [...blocked.problems] } }),
    totals: survey && {
      migrations: migrations.length,
      actions: survey.size,
      ...ofCost(totalOf([...survey.values()].map(({ cost: own }) => own))),
    },
  };
}

function ofMigration(
  { migration, actions, done, total, writtenDown }: PlannedMigration,
  survey: Survey | undefined,
): DocumentMigration {
  const { version, name, file, checksum, steps } = migration;
  return {
    version,
    name,
    file,
    checksum,
    steps: steps.map(stepHash),
    done,
    total,
    ...(writtenDown && { down: [...writtenDown] }),
    actions: actions.map((one) => ofAction(one, survey?.get(one))),
  };
}

function ofCost({ indexes, ...rest }: Cost) {
  return { ...rest, indexes: [...indexes] };
}

function ofEstimate(estimate: Estimate | undefined) {
  return estimate && { calls: [...estimate.calls], cost: ofCost(estimate.cost) };
}

function ofAction(
  { place, action: own, text: words, commits, risks, rollback: back, refusal: refused }: PlannedAction,
  estimate: ActionEstimate | undefined,
) {
  return {
    step: place.step,
    kind: place.kind,
    text: words,
    ...(commits.length > 1 && { commits: commits.map((one) => ({ text: one.text, action: { ...one.action } })) }),
    ...ofEstimate(estimate),
    risks: risks.map(({ kind, text: words }, index) => ({ kind, text: words, rows: estimate?.rows[index] })),
    ...(back && {
      rollback: { ...back, actions: back.actions.map((one) => ({ ...one })), ...ofEstimate(estimate?.back) },
    }),
    refusal: refused,
    action: { ...own },
  };
}
