/** Marks the actions of a plan that are known to fail. The tables are queried before anything is changed. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import {
  isInKey,
  specialIn,
  suspicionsOf,
  type FailureQuestion,
  type Suspicion,
} from "../../plan/assess/known-failures.ts";
import { castHint } from "../../plan/compile/cast-hint.ts";
import { asWhole } from "../../actions/kinds/columns/add-field.ts";
import { parsePath } from "../../schema/path.ts";
import { withoutNewFields } from "../../schema/table-format.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import { unusableKeys } from "./unusable-keys.ts";
import type { Target } from "../../targets/contract/target.ts";

/**
 * What can't be queried is unknown, and does not refuse an action. `isFirstTried`: the rows of the first action are not
 * queried, because its call shows the same. If another action is refused, there will be no call, so they are queried.
 */
export async function withKnownFailures(plan: Plan, target: Target, isFirstTried = false): Promise<Plan> {
  const suspicions = suspicionsOf(plan);
  const problems = new Map<unknown, string>(await unusableKeys(plan, target));
  const ask = async (action: PlannedAction, suspicion: Suspicion) => {
    const problem = await problemWith(suspicion, target);
    if (problem !== undefined) problems.set(action, withCastHint(action, problem));
  };
  const first = isFirstTried ? firstOf(plan) : undefined;
  for (const [action, suspicion] of suspicions)
    await ask(action, action === first ? { ...suspicion, questions: [] } : suspicion);
  const isRefused = problems.size > 0 || plan.migrations.some(({ actions }) => actions.some(({ refusal }) => refusal));
  const asked = first && suspicions.get(first);
  if (isRefused && asked !== undefined) await ask(first!, asked);
  if (problems.size === 0) return plan;
  const migrations = plan.migrations.map((one) => ({
    ...one,
    actions: one.actions.map((action) => {
      const problem = problems.get(action);
      return problem === undefined ? action : { ...action, refusal: { reason: "failure" as const, problem } };
    }),
  }));
  return { ...plan, migrations };
}

/** Why the first action of the plan was refused, if the tables show it. */
export async function firstFailure(plan: Plan, target: Target, cause: unknown): Promise<MigrateError | undefined> {
  const first = firstOf(plan);
  const suspicion = first && suspicionsOf(plan).get(first);
  const problem = suspicion && (await problemWith(suspicion, target));
  return problem === undefined
    ? undefined
    : new MigrateError("ERR_STEP_WOULD_FAIL", { ...first!.place, problem: withCastHint(first!, problem) }, { cause });
}

function withCastHint({ action, before }: PlannedAction, problem: string): string {
  return `${problem}${castHint(action, before.get(action.table), problem)}`;
}

function firstOf({ migrations }: Plan): PlannedAction | undefined {
  return migrations[0]?.actions[0];
}

async function problemWith(
  { questions, nullable, retyped, evaluates, addsField, drops }: Suspicion,
  target: Target,
): Promise<string | undefined> {
  for (const question of questions) {
    const problem = await answerOf(question, target);
    if (problem !== undefined) return problem;
  }
  const columnsNow = async (table: string) =>
    target.capabilities.describes ? ((await target.describeTable(table))?.table.columns ?? []) : [];
  for (const { table, path } of nullable)
    if (isInKey(path, await columnsNow(table)))
      return `${table}.${path} is part of the table's primary key, which can't hold nulls`;
  for (const one of retyped) {
    const { table, column } = one;
    const special = specialIn(one, await columnsNow(table));
    if (special !== undefined)
      return `the engine stores ${table}.${special.path} as ${special.storage}, and would not any more after a retype of ${column}; add a column of the new type, and fill it from this one or from your application`;
  }
  const tooOld = addsField && formatProblem(addsField, target);
  if (tooOld !== undefined) return tooOld;
  const refused = evaluates && (await refusedSql(evaluates, target));
  if (refused !== undefined) return refused;
  return drops && (await target.tryDropping?.(drops.table, drops.paths).catch(() => undefined));
}

function formatProblem({ table, path }: NonNullable<Suspicion["addsField"]>, target: Target): string | undefined {
  const format =
    table === undefined ? target.newTables?.dataStorageVersion : target.formatOf?.(table)?.dataStorageVersion;
  if (format === undefined || !withoutNewFields.has(format)) return undefined;
  return `${path} can't be added, as the table is written in file format ${format}, in which a struct gets no new fields; ${asWhole(parsePath(path)[0]!)}`;
}

async function refusedSql(
  { columns, tried }: NonNullable<Suspicion["evaluates"]>,
  target: Target,
): Promise<string | undefined> {
  for (const { call, words, parts = [] } of tried) {
    const problem = await target.tryCall?.(columns, call).catch(() => undefined);
    if (problem !== undefined) return (await refusedSql({ columns, tried: parts }, target)) ?? `${words}: ${problem}`;
  }
  return undefined;
}

async function answerOf({ ask, isSame, most, problem }: FailureQuestion, target: Target): Promise<string | undefined> {
  const { count, explain } = target;
  if (count === undefined) return undefined;
  try {
    return problem(await count(ask.table, ask.predicate, undefined, most));
  } catch (error) {
    if (isSame !== true) return undefined;
    const isThere = await count(ask.table).then(
      () => true,
      () => false,
    );
    // The table can be read, so the expression must be the cause.
    const cause = isMigrateError(error) ? (error.cause ?? error) : error;
    return isThere ? `its values can't be worked out: ${explain(cause)}` : undefined;
  }
}
