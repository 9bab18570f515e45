/** The plan as one JSON document for programs. Its shape is published as docs/plan.schema.json. Pure. */
import { z } from "zod";
import { stepHash } from "../../migrations/checksum.ts";
import { costShape, totalOf, type ActionEstimate, type Survey } from "./cost.ts";
import type { Direction } from "../compile/compile.ts";
import type { Plan, PlannedAction, PlannedMigration } from "../make-plan.ts";

const text = z.string();
const whole = z.int().min(0);

const action = z
  .looseObject({ kind: text, table: text })
  .describe("As a target executes it: its kind, its table, and what else that kind has.");

const commit = z.object({ text, action });

const calls = z.array(text).describe("Of each commit the request, or the engine's method with what it is given.");

const rollback = z.object({
  class: z.enum(["exact", "checked", "restore", "none"]),
  text,
  reason: text.optional().describe("What may block the rollback, or why there is none, or none by actions."),
  restores: text.optional(),
  actions: z.array(action),
  calls: calls
    .optional()
    .describe("Of these actions; none where an old version is restored, which has no number before `up` begins."),
  cost: costShape.optional(),
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
  cost: costShape.optional(),
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
  totals: z.object({ migrations: whole, actions: whole, ...costShape.shape }).optional(),
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
      ...totalOf([...survey.values()].map(({ cost }) => cost)),
    },
  };
}

function ofMigration(
  { migration, actions, done, total, writtenDown }: PlannedMigration,
  survey: Survey | undefined,
): DocumentMigration {
  const { version, name, file, bundledFile = file, checksum, steps } = migration;
  return {
    version,
    name,
    file: bundledFile,
    checksum,
    steps: steps.map(stepHash),
    done,
    total,
    ...(writtenDown && { down: [...writtenDown] }),
    actions: actions.map((one) => ofAction(one, survey?.get(one))),
  };
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
    calls: estimate?.calls,
    cost: estimate?.cost,
    risks: risks.map(({ kind, text: words }, index) => ({ kind, text: words, rows: estimate?.rows[index] })),
    ...(back && {
      rollback: {
        ...back,
        actions: back.actions.map((one) => ({ ...one })),
        calls: estimate?.back?.calls,
        cost: estimate?.back?.cost,
      },
    }),
    refusal: refused,
    action: { ...own },
  };
}
