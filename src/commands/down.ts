/** Rolls migrations back: what a rollback does differently from a run upward. The run itself is in run.ts. */
import { isMigrateError, MigrateError } from "../errors/migrate-error.ts";
import { acceptsLoss } from "../migrations/acceptance.ts";
import type { Plan } from "../plan/make-plan.ts";
import { groupInDoubt, migrationsInDoubt, type LedgerState } from "../ledger/state/ledger-state.ts";
import { formatMigration, formatVersion, type MigrationName } from "../migrations/file-name.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import {
  checkNothingHalfDone,
  orderBack,
  type BackChoice,
  type RunBackChoice,
} from "../plan/history/select-rollback.ts";
import { checkMissing } from "../plan/history/pending.ts";
import { keepingValues, restoringAfter } from "../plan/assess/blocking-rows.ts";
import { withBlockers, type Consent } from "../run/check/find-blocking-rows.ts";
import { lostLedger } from "../run/check/lost-ledger.ts";
import { underWay } from "../run/lease/describe-holder.ts";
import { checkRestores } from "../run/check/check-restores.ts";
import { deferredAfterwards } from "../run/deferred/emit-deferred.ts";
import type { Deferral } from "../run/deferral-text.ts";
import { recreatedTables } from "../run/check/recreated-tables.ts";
import { writeGuard } from "../run/execute/write-guard.ts";
import type { Emit } from "../run/events.ts";
import { computingOf, runContext, type MigratorOptions, type RunContext } from "../run/run-context.ts";
import { observed } from "../run/observed.ts";
import { withPlanChecks } from "../run/plan-check.ts";
import { ifCurrent } from "../run/prepare/consistent-read.ts";
import { planChosen, type PlannedRun, type PlanningInput } from "../run/prepare/plan-run.ts";
import { touchedTables } from "../plan/reconcile/reconcile.ts";
import { waysBack } from "../run/check/stopped-migrations.ts";
import { unstartedEntries } from "../run/prepare/unstarted-migrations.ts";
import { migrate, type RunKind, type Rules, type RunOptions } from "./run.ts";

type RollbackChoice = RunBackChoice & Consent;

export type DownChoice = RunOptions<BackChoice & Consent>;

export interface DownResult {
  /** How many migrations were rolled back. */
  readonly reverted: number;
  /** How many migrations are applied now. */
  readonly total: number;
  /** The indexes that wait until their tables hold enough vectors. Absent if there are none. */
  readonly deferred?: readonly Deferral[] | undefined;
}

/**
 * Rolls back what ran last. When it throws a MigrateError, the ledger records what was done until then. `agreed`: the
 * migrations of the plan that the user agreed to. Throws ERR_ROLLBACK_OTHER if it would be others now.
 */
export function down(
  options: MigratorOptions,
  choice: DownChoice = {},
  agreed?: readonly MigrationName[],
): Promise<DownResult> {
  return observed("down", options, (given) => run(given, choice, agreed));
}

async function run(
  options: MigratorOptions,
  choice: DownChoice,
  agreed: readonly MigrationName[] | undefined,
): Promise<DownResult> {
  const context = runContext(options);
  const { clock, emit } = context;
  const see: Emit = (event) => emit(event.event === "waiting" ? { ...event, direction: "down" } : event);
  const started = clock.steady();
  const kind = agreed === undefined ? downRun : downRunOf(agreed);
  const { changed, total, defers } = await migrate({ ...context, emit: see }, kind, choice);
  const deferred = defers === true ? await deferredAfterwards(context) : [];
  emit({ event: "finished", reverted: changed, duration: Math.round(clock.steady() - started) });
  return { reverted: changed, total, ...(deferred.length > 0 && { deferred }) };
}

export const downRun: RunKind<RollbackChoice> = { direction: "down", rules: downRules };

function downRunOf(agreed: readonly MigrationName[]): typeof downRun {
  const wordsOf = (names: readonly MigrationName[]) => names.map(formatMigration).join(", ");
  return {
    ...downRun,
    rules(...given) {
      const rules = downRules(...given);
      const plan = async (input: PlanningInput) => {
        const planned = await rules.plan(input);
        const [first, now] = [agreed, planned.plan.migrations.map(({ migration }) => migration)].map(wordsOf);
        if (first !== now) throw new MigrateError("ERR_ROLLBACK_OTHER", { agreed: first!, now: now! });
        return planned;
      };
      return { ...rules, plan };
    },
  };
}

function downRules(choice: RollbackChoice, context: RunContext, files: readonly MigrationFile[]): Rules {
  if (acceptsLoss(choice) && choice.reinsert === true)
    throw new MigrateError("ERR_USAGE", {
      problem: "accept and reinsert can't be used together: the first loses rows, and the second keeps them",
    });
  const { runner } = context;
  return {
    async isNothing({ records, state }) {
      // Tables that another run has just made look as if their records were lost. The plan is made from the newest ledger.
      const isKnown = async () => await requireLedger(context, state, files).then(() => true);
      if ((await ifCurrent(context, { records, state }, isKnown)) === undefined) return false;
      // A migration in doubt may have run, and would then be among those to roll back.
      const isSettled = state.late.length === 0 && migrationsInDoubt(state, runner.run).size === 0;
      return orderBack(state, files, choice).length === 0 && isSettled;
    },
    plan: (input) => planBack(input, choice),
    async withRefusals(plan) {
      const { withMissingCode } = await computingOf(context);
      return await withPlanChecks(await withMissingCode(plan, context), "down", context);
    },
  };
}

/** Nothing to roll back is no success if the ledger was lost. Throws ERR_LEDGER_LOST. */
async function requireLedger(...about: Parameters<typeof lostLedger>): Promise<void> {
  const problem = await lostLedger(...about);
  if (problem !== undefined) throw new MigrateError("ERR_LEDGER_LOST", { problem });
}

/** The rows of a table that was adopted are mostly older than its migration. */
function explainAdopted(plan: Plan, { migrations }: LedgerState): Plan {
  const adopted = plan.migrations
    .filter(({ migration }) => migrations.get(migration.version)?.isBaselined === true)
    .map(({ migration }) => formatMigration(migration));
  if (plan.blocked === undefined || adopted.length === 0) return plan;
  const words = `${adopted.join(", ")} never ran here: migrate baseline marked ${adopted.length === 1 ? "it" : "them"} as applied, so these rows may be older`;
  return { ...plan, blocked: { ...plan.blocked, problems: [...plan.blocked.problems, words] } };
}

async function planBack(input: PlanningInput, choice: RollbackChoice): Promise<PlannedRun> {
  const { context, files, state, besideAnother } = input;
  const { target, runner } = context;
  await requireLedger(context, state, files);
  checkMissing(files, state);
  const { stopped } = await waysBack(context, files, state);
  const begun = { inDoubt: migrationsInDoubt(state, runner.run), group: groupInDoubt(state, runner.run), stopped };
  checkNothingHalfDone(state, begun, target.capabilities);
  const firstEntries = await unstartedEntries(input);
  const { plan, migrations } = await planChosen(
    orderBack(state, files, choice),
    "down",
    input,
    !acceptsLoss(choice),
  ).catch((error: unknown) => {
    // What a run at work has just done, and not recorded yet, looks as if it had been done by hand.
    const [version] = besideAnother ? underWay(state, context.clock) : [];
    const isBack = version !== undefined && state.migrations.get(version)?.reversal !== undefined;
    if (version === undefined || isBack || !isMigrateError(error, "ERR_DRIFT")) throw error;
    throw new MigrateError("ERR_UNSETTLED", { version: formatVersion(version) });
  });
  // Read the versions before asking about rows: later writes may be missing from the answers.
  const seen: Record<string, number | null> = {};
  for (const table of touchedTables(plan)) seen[table] = (await target.describeTable(table))?.version ?? null;
  const recreated = await recreatedTables(plan, target);
  const starts = Object.fromEntries(Object.entries(seen).map(([table, version]) => [table, [version, null] as const]));
  const restoring = {
    ...plan,
    migrations: plan.migrations.map((one) => restoringAfter(one, one.startedAt ?? starts)),
  };
  const kept = choice.reinsert === true ? restoring : keepingValues(restoring);
  const { blocking, plan: looked } = await checkRestores(kept, target);
  return {
    plan: explainAdopted(await withBlockers(looked, target, choice, [...recreated, ...blocking]), state),
    migrations,
    firstEntries,
    writeGuard: acceptsLoss(choice) ? undefined : writeGuard(target, seen),
  };
}
