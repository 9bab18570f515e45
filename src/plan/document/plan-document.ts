/** The plan as one JSON document for programs. Its shape is published with those of the other commands (cli/json). Pure. */
import { z } from "zod";
import { describeAction } from "../../actions/apply-action.ts";
import { stepHash } from "../../migrations/checksum.ts";
import type { CheckedContracts } from "../checked-contracts.ts";
import { costShape, totalOf, type ActionEstimate, type Survey } from "../assess/cost.ts";
import type { Direction } from "../compile/compile.ts";
import { callsLeft, type GroupedPlan, type MigrationGroup } from "../group/group-migrations.ts";
import type { Risk } from "../../actions/model/risk.ts";
import { isPartlyDone } from "../history/progress.ts";
import type { PlannedAction, PlannedMigration } from "../make-plan.ts";
import { rollbackClasses } from "../rollback/rollback-classes.ts";

const text = z.string();
const whole = z.int().min(0);

const action = z
  .looseObject({ kind: text, table: text })
  .meta({ id: "action", description: "As a target executes it: its kind, its table, and what else that kind has." });

const commit = z.object({ text, action });

const calls = z.array(text).describe("Of each commit the request, or the engine's method with what it is given.");

const rollback = z.object({
  class: z.enum(rollbackClasses),
  text,
  reason: text.optional().describe("What may block the rollback, or why there is none, or none by actions."),
  restores: text.optional(),
  actions: z.array(action),
  calls: calls
    .optional()
    .describe("Of these actions; none where an old version is restored, which has no number before `up` begins."),
  cost: costShape.optional(),
});

export const refusal = z
  .discriminatedUnion("reason", [
    z.object({ reason: z.literal("consent"), consent: z.enum(["lossy", "irreversible"]), loss: text }),
    z.object({ reason: z.literal("forbidden"), class: rollback.shape.class, problem: text }),
    z.object({ reason: z.literal("failure"), problem: text }),
    z.object({ reason: z.literal("rewrite"), bytes: whole.nullable(), limit: whole }),
    z.object({
      reason: z.literal("contract"),
      broken: z.array(
        z.object({
          application: text,
          release: text,
          problem: text.describe("What the release does, and why that fails."),
        }),
      ),
      sequence: z.array(text).describe("What does the same without breaking these releases."),
    }),
  ])
  .meta({ id: "refusal" });

export const risk = z.object({
  kind: z.enum(["loss", "failure", "deferral", "writers", "readers", "embedding"]),
  text,
  rows: whole.optional().describe("How many rows it is about now, where the target was asked."),
});

const plannedAction = z.object({
  step: z.int().min(1).describe("Counted from 1."),
  kind: text.optional(),
  text,
  undoes: z.array(text).optional().describe("The actions that restoring an old version undoes."),
  commits: z.array(commit).optional(),
  calls: calls.optional(),
  cost: costShape.optional(),
  risks: z.array(risk),
  rollback: rollback.optional(),
  refusal: refusal.optional(),
  action,
});

const plannedMigration = z
  .object({
    version: whole,
    name: text,
    file: text,
    checksum: text.describe("SHA-256 of its steps."),
    steps: z.array(text).describe("A short hash of each step."),
    done: whole.describe("How many of its actions are done already."),
    total: whole,
    unfinished: z
      .literal(true)
      .optional()
      .describe("A run has begun it and was killed or has failed, or has begun the group that it is part of."),
    down: z.array(text).optional().describe("The rollback that its file exports, as text."),
    actions: z.array(plannedAction),
  })
  .meta({ id: "migration" });

const plannedGroup = z
  .object({
    versions: z.array(whole).describe("Its migrations."),
    done: whole.describe("How many of its calls are made already."),
    total: whole,
    actions: z
      .array(z.object({ text, calls: calls.optional(), cost: costShape.optional(), action }))
      .describe("The calls that are left, in place of those of its migrations."),
  })
  .meta({ id: "group" });

/** The names of a release, and the file of its contract. */
export const contractName = z
  .object({ application: text, release: text, file: text.describe("Its path.") })
  .meta({ id: "contractName" });

export const newDatabase = text.optional().describe("Where the database is, if it has no tables yet.");

export const verdictShape = z
  .enum(["nothing", "ready", "consent", "refused"])
  .describe(
    "`nothing`: there is nothing to do; `ready`: the run would begin; `consent`: only consent is missing; `refused`: the run would refuse it.",
  );

export const planDocumentShape = z
  .object({
    target: text,
    direction: z.enum(["up", "down"]),
    verdict: verdictShape,
    pending: z.array(plannedMigration).optional().describe("With the direction up: what is applied, in this order."),
    reverting: z
      .array(plannedMigration)
      .optional()
      .describe("With the direction down: what is rolled back, in this order."),
    groups: z
      .array(plannedGroup)
      .optional()
      .describe(
        "With the direction up: migrations that run as one. Their own actions have no commits, calls and cost here.",
      ),
    stepByStep: z
      .literal(true)
      .optional()
      .describe(
        "Of a saved plan: its migrations run one by one, although migrate up would run some of them as a group.",
      ),
    accepted: z
      .array(text)
      .optional()
      .describe(
        "With the direction down: what is lost, or reinserted, as was accepted with --accept lossy or --reinsert.",
      ),
    blocked: z
      .object({ problems: z.array(text), hint: text })
      .optional()
      .describe(
        "With the direction down: the rows that block the rollback, so that it is refused, and how to proceed.",
      ),
    contracts: z
      .object({
        releases: z.array(contractName).describe("Those whose contracts were checked."),
        notes: z.array(text).describe("What protects nothing, such as an empty folder."),
        refused: whole.describe("How many migrations are refused, because they break a contract."),
      })
      .optional()
      .describe("If contracts are configured or given."),
    newDatabase,
    totals: z.object({ migrations: whole, actions: whole, ...costShape.shape }).optional(),
  })
  .meta({ id: "plan" });

export type PlanDocument = z.output<typeof planDocumentShape>;
export type DocumentMigration = z.output<typeof plannedMigration>;
export type DocumentGroup = z.output<typeof plannedGroup>;
export type DocumentAction = z.output<typeof plannedAction>;

/** The migrations of the document, in either direction. */
export function migrationsOf({ pending, reverting }: PlanDocument): readonly DocumentMigration[] {
  return pending ?? reverting ?? [];
}

/** `survey`: the estimates for the plan's actions, if the target was asked. */
export function planDocument(plan: GroupedPlan, target: string, direction: Direction, survey?: Survey): PlanDocument {
  const { migrations, groups = [], accepted = [], blocked, contracts, newDatabase } = plan;
  const grouped = new Set(groups.flatMap(versionsOf));
  const begun = new Set(groups.filter((group) => callsLeft(group).length < group.calls.length).flatMap(versionsOf));
  const isGrouped = ({ migration }: PlannedMigration) => grouped.has(migration.version);
  const actions = migrations.flatMap((one) => one.actions);
  const alone = migrations.filter((one) => !isGrouped(one)).flatMap((one) => one.actions);
  const executed = [...groups.flatMap(callsLeft), ...alone];
  return {
    target,
    direction,
    verdict: verdictOn(plan),
    [direction === "up" ? "pending" : "reverting"]: migrations.map((one) => ({
      ...ofMigration(one, isGrouped(one), survey),
      ...((isPartlyDone(one) || begun.has(one.migration.version)) && { unfinished: true }),
    })),
    ...(groups.length > 0 && { groups: groups.map((group) => ofGroup(group, survey)) }),
    ...(accepted.length > 0 && { accepted: [...accepted] }),
    ...(blocked && { blocked: { ...blocked, problems: [...blocked.problems] } }),
    ...(contracts && { contracts: { ...ofContracts(contracts), refused: migrations.filter(breaksContract).length } }),
    ...(newDatabase !== undefined && { newDatabase }),
    totals: survey && {
      migrations: migrations.length,
      actions: actions.length,
      ...totalOf(executed.map((one) => survey.get(one)!.cost)),
    },
  };
}

function verdictOn({ migrations, blocked }: GroupedPlan): PlanDocument["verdict"] {
  const refusals = migrations.flatMap(({ actions }) => actions.flatMap(({ refusal: refused = [] }) => refused));
  if (blocked !== undefined || refusals.some(({ reason }) => reason !== "consent")) return "refused";
  if (refusals.length > 0) return "consent";
  return migrations.length === 0 ? "nothing" : "ready";
}

function ofContracts({ releases, notes }: CheckedContracts) {
  return { releases: [...releases], notes: [...notes] };
}

function breaksContract({ actions }: PlannedMigration): boolean {
  return actions.some(({ refusal: refused }) => refused?.reason === "contract");
}

function versionsOf({ migrations }: MigrationGroup): number[] {
  return migrations.map(({ migration }) => migration.version);
}

function ofGroup(group: MigrationGroup, survey: Survey | undefined): DocumentGroup {
  const left = callsLeft(group);
  const total = group.calls.length;
  const actions = left.map((one) => {
    const { text: words, action: own } = one;
    return { text: words, calls: survey?.get(one)?.calls, cost: survey?.get(one)?.cost, action: { ...own } };
  });
  return { versions: versionsOf(group), done: total - left.length, total, actions };
}

function ofMigration(
  { migration, actions, done, total, writtenDown }: PlannedMigration,
  isGrouped: boolean,
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
    actions: actions.map((one) => ofAction(one, isGrouped, survey?.get(one))),
  };
}

/** The risks of an action that apply to the current tables, with the number of rows that each is about. */
function risksNow(risks: readonly Risk[], estimate: ActionEstimate | undefined, isGrouped: boolean) {
  return (
    risks
      .flatMap((risk, index) => riskNow(risk, estimate?.rows[index]))
      // The others concern rows, which the call of a group neither reads nor writes.
      .filter(({ kind }) => !isGrouped || kind === "embedding")
  );
}

/** `rows`: how many rows it is about now, if known. Of a key: 0 if no row is computed. Of a deferral: rows with a vector, counted up to as many as needed. */
function riskNow({ kind, text: words, blocker }: Risk, rows: number | undefined) {
  if (blocker?.kind === "key") return rows === 0 ? [] : [{ kind, text: words }];
  if (kind !== "deferral" || rows === undefined) return [{ kind, text: words, rows }];
  return blocker?.kind === "vectors" && rows >= blocker.least ? [] : [{ kind, text: words, rows }];
}

function ofAction(
  { place, action: own, text: words, undoes, commits, risks, rollback: back, refusal: refused }: PlannedAction,
  isGrouped: boolean,
  estimate: ActionEstimate | undefined,
) {
  const isCalled = commits.length > 1 && !isGrouped;
  return {
    step: place.step,
    kind: place.kind,
    text: words,
    ...(undoes && { undoes: undoes.map(describeAction) }),
    ...(isCalled && { commits: commits.map((one) => ({ text: one.text, action: { ...one.action } })) }),
    ...(!isGrouped && { calls: estimate?.calls, cost: estimate?.cost }),
    risks: risksNow(risks, estimate, isGrouped),
    ...(back && {
      rollback: {
        ...back,
        actions: back.actions.map((one) => ({ ...one })),
        calls: estimate?.back?.calls,
        cost: estimate?.back?.cost,
      },
    }),
    refusal:
      refused?.reason === "contract"
        ? { ...refused, broken: [...refused.broken], sequence: [...refused.sequence] }
        : refused,
    action: { ...own },
  };
}
