/** A plan for programs: one document, whose shape is published as docs/plan.schema.json. Pure. */
import { z } from "zod";
import { stepHash } from "../migrations/checksum.ts";
import type { Direction } from "./course.ts";
import type { Plan, PlannedAction, PlannedMigration } from "./plan.ts";

const text = z.string();
const whole = z.int().min(0);

/** As a target executes it: its kind, its table, and what else that kind has. */
const action = z.looseObject({ kind: text, table: text });

const commit = z.object({ text, action });

const rollback = z.object({
  class: z.enum(["exact", "checked", "restore", "none"]),
  text,
  /** What may stand in the way, or why there is no way, or none by actions. */
  reason: text.optional(),
  restores: text.optional(),
  actions: z.array(action),
});

const refusal = z.discriminatedUnion("reason", [
  z.object({ reason: z.literal("consent"), consent: z.enum(["lossy", "irreversible"]), loss: text }),
  z.object({ reason: z.literal("forbidden"), class: rollback.shape.class, problem: text }),
]);

const plannedAction = z.object({
  /** Counted from 1. */
  step: z.int().min(1),
  kind: text.optional(),
  text,
  commits: z.array(commit).optional(),
  risks: z.array(z.object({ kind: z.enum(["loss", "failure", "writers"]), text })),
  rollback: rollback.optional(),
  refusal: refusal.optional(),
  action,
});

const plannedMigration = z.object({
  version: whole,
  name: text,
  file: text,
  /** SHA-256 of its steps, and a short hash of each. */
  checksum: text,
  steps: z.array(text),
  /** How many of its actions are done already. */
  done: whole,
  total: whole,
  /** What its file says takes it back, in words. */
  down: z.array(text).optional(),
  actions: z.array(plannedAction),
});

export const planDocumentShape = z.object({
  target: text,
  direction: z.enum(["up", "down"]),
  /** With the direction up: what is applied, in this order. */
  pending: z.array(plannedMigration).optional(),
  /** With the direction down: what is taken back, in this order. */
  reverting: z.array(plannedMigration).optional(),
});

export type PlanDocument = z.output<typeof planDocumentShape>;
type DocumentMigration = z.output<typeof plannedMigration>;

/** Its migrations, whichever way they go. */
export function migrationsOf({ pending, reverting }: PlanDocument): readonly DocumentMigration[] {
  return pending ?? reverting ?? [];
}

export function planDocument({ migrations }: Plan, target: string, direction: Direction): PlanDocument {
  return { target, direction, [direction === "up" ? "pending" : "reverting"]: migrations.map(ofMigration) };
}

function ofMigration({ migration, actions, done, total, writtenDown }: PlannedMigration): DocumentMigration {
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
    actions: actions.map(ofAction),
  };
}

function ofAction({
  place,
  action: own,
  text: words,
  commits,
  risks,
  rollback: back,
  refusal: refused,
}: PlannedAction) {
  return {
    step: place.step,
    kind: place.kind,
    text: words,
    ...(commits.length > 1 && { commits: commits.map((one) => ({ text: one.text, action: { ...one.action } })) }),
    risks: [...risks],
    ...(back && { rollback: { ...back, actions: back.actions.map((one) => ({ ...one })) } }),
    refusal: refused,
    action: { ...own },
  };
}
