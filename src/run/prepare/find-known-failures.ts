/** Marks the actions of a plan that are known to fail. The tables are queried before anything is changed. */
import { MigrateError } from "../../errors/migrate-error.ts";
import {
  isInKey,
  specialIn,
  preflightChecks,
  type FailureQuestion,
  type PreflightChecks,
} from "../../plan/assess/known-failures.ts";
import { castHint } from "../../plan/compile/cast-hint.ts";
import { asWhole } from "../../actions/kinds/columns/add-field.ts";
import { parsePath } from "../../schema/path.ts";
import type { Action } from "../../actions/model/action.ts";
import type { Risk } from "../../actions/model/risk.ts";
import { blob, specialStorage } from "../../schema/reserved-metadata.ts";
import { findColumn } from "../../schema/table.ts";
import { beforeBlobs, hidesNullsOfBlobs, indexHarm } from "../../schema/table-format.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import { isNoAnswer } from "../../targets/contract/no-answer.ts";
import type { Target } from "../../targets/contract/target.ts";
import { computingOf, type MigratorOptions } from "../run-context.ts";

/**
 * What can't be queried is unknown, and does not refuse an action. `isFirstTried`: the rows of the first action are not
 * queried, because its call shows the same. If another action is refused, there will be no call, so they are queried.
 */
export async function withKnownFailures(
  plan: Plan,
  context: Pick<MigratorOptions, "computing" | "target">,
  isFirstTried = false,
): Promise<Plan> {
  const { target } = context;
  const checks = preflightChecks(plan);
  const keys = await (await computingOf(context)).checkKeys(plan, target);
  const problems = new Map<unknown, string>(keys.problems);
  for (const one of plan.migrations.flatMap(({ direction, actions }) => (direction === "up" ? actions : [])))
    if (one.replaced !== undefined) problems.set(one, one.replaced);
  const ask = async (action: PlannedAction, check: PreflightChecks) => {
    const problem = await problemWith(check, target);
    if (problem !== undefined) problems.set(action, withCastHint(action, problem));
  };
  const first = isFirstTried ? firstOf(plan) : undefined;
  for (const [action, check] of checks) await ask(action, action === first ? { ...check, questions: [] } : check);
  const isRefused = problems.size > 0 || plan.migrations.some(({ actions }) => actions.some(({ refusal }) => refusal));
  const asked = first && checks.get(first);
  if (isRefused && asked !== undefined) await ask(first!, asked);
  const migrations = plan.migrations.map((one) => ({
    ...one,
    actions: one.actions.map((action) => {
      const problem = problems.get(action);
      const known = action.risks.filter(({ blocker }) => blocker?.kind !== "key" || !keys.usable.has(action));
      const risks = one.direction === "up" ? [...known, ...clientRisks(action.action, target)] : known;
      return { ...action, risks, ...(problem !== undefined && { refusal: { reason: "failure" as const, problem } }) };
    }),
  }));
  return { ...plan, migrations };
}

/** What older clients can't do with the index that an action builds. Behind a service, only its own engine matters. */
function clientRisks(action: Action, { formatOf, newTables }: Target): readonly Risk[] {
  if (formatOf === undefined || !("index" in action) || action.index === undefined) return [];
  const { table, index } = action;
  const { dataStorageVersion = "2.2" } = formatOf(table) ?? newTables ?? {};
  const harm = indexHarm(index.kind, { dataStorageVersion });
  return harm === undefined
    ? []
    : [{ kind: "readers", text: `index of kind ${index.kind} on ${table}: ${harm} (docs/clients.md)` }];
}

/** Why the first action of the plan was refused, if the tables show it. */
export async function firstFailure(plan: Plan, target: Target, cause: unknown): Promise<MigrateError | undefined> {
  const first = firstOf(plan);
  const check = first && preflightChecks(plan).get(first);
  const problem = check && (await problemWith(check, target));
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
  { broken, questions, nullable, strict, retyped, evaluates, adds, refreshes, drops }: PreflightChecks,
  target: Target,
): Promise<string | undefined> {
  if (broken !== undefined) return broken;
  for (const question of questions) {
    const problem = await answerOf(question, target);
    if (problem !== undefined) return problem;
  }
  const columnsNow = async (table: string) =>
    target.capabilities.describes ? ((await target.describeTable(table))?.table.columns ?? []) : [];
  for (const { table, path } of nullable)
    if (isInKey(path, await columnsNow(table)))
      return `${table}.${path} is part of the table's primary key, which can't hold nulls`;
  for (const { table, path } of strict) {
    const column = findColumn(await columnsNow(table), parsePath(path));
    const isOld = column?.type.kind !== "blob" && specialStorage(column?.metadata) === blob;
    if (isOld && hidesNullsOfBlobs(target.formatOf?.(table)))
      return `the engine stores ${table}.${path} as a blob, and no query shows its nulls in this file format; if there are any, the table could not be read after this step; leave the column nullable`;
  }
  for (const one of retyped) {
    const { table, column } = one;
    const special = specialIn(one, await columnsNow(table));
    if (special !== undefined)
      return `the engine stores ${table}.${special.path} as ${special.storage}, but no longer would after a retype of ${column} or with a new field in it; add another column instead, and fill it from this one or from your application`;
  }
  const tooOld = adds && formatProblem(adds, target);
  if (tooOld !== undefined) return tooOld;
  const unrefreshed = refreshes && (await refreshProblem(refreshes, target));
  if (unrefreshed !== undefined) return unrefreshed;
  const refused = evaluates && (await refusedSql(evaluates, target));
  if (refused !== undefined) return refused;
  return drops && (await target.tryDropping?.(drops.table, drops.paths).catch(() => undefined));
}

function formatProblem(
  { table, path, isBlob }: NonNullable<PreflightChecks["adds"]>,
  target: Target,
): string | undefined {
  const format =
    table === undefined ? target.newTables?.dataStorageVersion : target.formatOf?.(table)?.dataStorageVersion;
  if (format === undefined || !beforeBlobs.has(format)) return undefined;
  const problem = `${path} can't be added, because the table is written in file format ${format}, which`;
  return isBlob
    ? `${problem} has no blobs; create another table with it`
    : `${problem} does not allow new fields in structs; ${asWhole(parsePath(path)[0]!)}`;
}

/** The engine computes values for deleted rows too, and has nulls there (measured: test/contract/misfits.test.ts). */
async function refreshProblem(
  { table, path, strict }: NonNullable<PreflightChecks["refreshes"]>,
  target: Target,
): Promise<string | undefined> {
  const { rows, stored } = (await target.tableSize?.(table).catch(() => undefined)) ?? { rows: 0 };
  if (stored === undefined || stored <= rows) return undefined;
  return `the table has deleted rows, so the engine can't compute ${path} from a column that is not null (${strict.join(", ")}); make ${strict.join(", ")} nullable in an earlier step (setNullable)`;
}

/** Why the engine refuses SQL on an empty table with these columns; undefined if it does not, or can't be asked. */
export async function refusedSql(
  { columns, tried }: NonNullable<PreflightChecks["evaluates"]>,
  target: Target,
): Promise<string | undefined> {
  for (const { call, words, parts = [] } of tried) {
    const problem = await target.tryCall?.(columns, call).catch(() => undefined);
    if (problem !== undefined) return (await refusedSql({ columns, tried: parts }, target)) ?? `${words}: ${problem}`;
  }
  return undefined;
}

async function answerOf({ ask, isSame, most, problem }: FailureQuestion, target: Target): Promise<string | undefined> {
  const { countRows, explain } = target;
  if (countRows === undefined) return undefined;
  try {
    return problem(await countRows(ask.table, ask.predicate, undefined, most));
  } catch (error) {
    if (isNoAnswer(error)) throw error;
    if (isSame !== true) return undefined;
    const isThere = await countRows(ask.table).then(
      () => true,
      () => false,
    );
    // The table can be read, so the expression must be the cause.
    return isThere ? `its values can't be worked out: ${explain(error)}` : undefined;
  }
}
