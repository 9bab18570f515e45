/**
 * A run in either direction. Read this file first: a run compares the files with the ledger, plans, takes the lease,
 * plans again and executes. up.ts and down.ts define what differs between the directions.
 */
import type { Action } from "../actions/model/action.ts";
import { appliedIn } from "../ledger/state/ledger-state.ts";
import type { Lease } from "../ledger/lease/lease.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import type { MigrateError } from "../errors/migrate-error.ts";
import { checkRefusals, refusalIn } from "../plan/assess/guards.ts";
import { showsItself } from "../plan/assess/known-failures.ts";
import { migrationsOf } from "../plan/document/plan-document.ts";
import type { SavedPlan } from "../plan/document/saved-plan.ts";
import type { Direction } from "../plan/compile/compile.ts";
import { groupsIn, type GroupedPlan } from "../plan/group/group-migrations.ts";
import { orderBack } from "../plan/history/select-rollback.ts";
import type { Plan } from "../plan/make-plan.ts";
import { plannedEvent } from "../run/events.ts";
import { hooksOf } from "../run/hooks.ts";
import { runMigrations } from "../run/execute/execute.ts";
import type { Execution } from "../run/execute/migration-progress.ts";
import { withExecutors } from "../run/executors.ts";
import { computingOf, type RunContext } from "../run/run-context.ts";
import { recordPhases } from "../run/phase.ts";
import { checkLateCalls } from "../run/execute/late-calls.ts";
import { withLease, type Ledger, type LeasedWork } from "../run/lease/with-lease.ts";
import { savedPlanCheck, type SavedPlanCheck } from "../run/prepare/bind-saved-plan.ts";
import { ifCurrent } from "../run/prepare/consistent-read.ts";
import { planNow, planIfCurrent, type PlannedRun, type PlanningInput } from "../run/prepare/plan-run.ts";
import { areFormer, recordRecognised } from "../run/prepare/record-renumbered.ts";

/** What differs between `up` and `down`. */
export interface RunKind<Chosen> {
  readonly direction: Direction;
  /** Throws if the choice contradicts itself or the files. */
  rules(choice: Chosen, context: RunContext, files: readonly MigrationFile[]): Rules;
}

export interface Rules extends Pick<Execution, "mayLoseVersion"> {
  /** Whether the ledger shows that there is nothing to do. Throws if the files do not fit it. */
  readonly isNothing: (ledger: Ledger) => Promise<boolean>;
  readonly until?: LeasedWork<unknown>["until"];
  readonly plan: (input: PlanningInput) => Promise<PlannedRun>;
  /** Adds the refusals that are not part of a saved plan. `isFirstTried`: without those that the first call shows. */
  readonly withRefusals?: (plan: Plan, isFirstTried: boolean) => Promise<Plan>;
  /** Why the first call was refused, if the tables show it. */
  readonly checkAfterRefusal?: (plan: Plan, cause: unknown) => Promise<MigrateError | undefined>;
}

/** The options of a run: either a choice, or a saved plan, which includes one. */
export type RunOptions<Chosen> = Chosen & {
  /** Executes exactly this plan, or nothing if it no longer holds. */
  readonly plan?: SavedPlan | undefined;
};

export interface RunResult {
  /** How many migrations were applied, or rolled back. */
  readonly changed: number;
  /** How many migrations are applied now. */
  readonly total: number;
  /** Whether the ledger states that indexes are deferred; undefined if the run found nothing to do. */
  readonly defers?: boolean;
}

/** When it throws a MigrateError, the ledger records what was done until then. */
export async function migrate<Chosen>(
  context: RunContext,
  kind: RunKind<Chosen>,
  wanted: RunOptions<Chosen>,
): Promise<RunResult> {
  const { plan: saved } = wanted;
  const savedCheck = savedPlanCheck(saved, kind.direction, context);
  // A planned migration whose file is missing would look like nothing to do.
  if (saved !== undefined) await savedCheck.checkFiles();
  const files = context.migrations.list();
  const rules = kind.rules(choiceOf(wanted), context, files);
  if (saved === undefined && areFormer(files)) await recordRecognised(context, files);
  return await withLease(context, {
    async resultIfDone({ records, state }) {
      const isNothing = savedCheck.isCarriedOut({ records, state }) || (await rules.isNothing({ records, state }));
      return isNothing ? { changed: 0, total: appliedIn(state).length } : undefined;
    },
    until: rules.until,
    async prepare({ records, state }) {
      const input: PlanningInput = { context, files, records, state, besideAnother: false };
      const planned = await savedCheck.planUnchanged(state, () => planIfCurrent(input, rules.plan));
      if (planned === undefined) return undefined;
      const { units = planned.plan.migrations } = planned;
      // A saved plan is used up by the first call.
      const isFirstTried = saved === undefined && showsItself(units, context.target.capabilities);
      // What another run has just done looks as if it had been done by hand.
      const plan = await ifCurrent(context, input, async () => {
        const refused = (await rules.withRefusals?.(planned.plan, isFirstTried)) ?? planned.plan;
        checkRefusals(refused, context.target.name, "migrate up");
        return refused;
      });
      if (plan === undefined) return undefined;
      // Of a rollback, no migration is in doubt until a record states that it has begun.
      const first = kind.direction === "up" ? plan.migrations[0]?.migration.version : undefined;
      const checkAfterRefusal = isFirstTried
        ? async (cause: unknown) => await rules.checkAfterRefusal?.(plan, cause)
        : undefined;
      const run = {
        ...kind,
        ...rules,
        savedCheck,
        state,
        planned: { ...planned, plan },
        first,
        checkAfterRefusal,
      };
      return { first, act: (lease) => carryOut(context, run, lease) };
    },
  });
}

interface PreparedRun
  extends
    Pick<RunKind<unknown>, "direction">,
    Pick<Execution, "mayLoseVersion" | "checkAfterRefusal">,
    Pick<Ledger, "state"> {
  readonly savedCheck: SavedPlanCheck;
  readonly planned: PlannedRun;
  /** The migration that is in doubt if the run dies. */
  readonly first: number | undefined;
}

function carryOut(context: RunContext, run: PreparedRun, lease: Lease): Promise<RunResult> {
  const { plan } = run.planned;
  context.emit(plannedEvent(plan, run.direction));
  if (plan.contracts !== undefined) context.emit({ event: "contracts", ...plan.contracts });
  const migrations = plan.migrations.map(({ migration: { version, name } }) => ({ version, name }));
  const runHooks = hooksOf(context, run.direction, migrations);
  if (runHooks === undefined) return executePlanned(context, run, lease);
  return runHooks.around(() => executePlanned({ ...context, runHooks }, run, lease));
}

async function executePlanned(
  context: RunContext & Pick<Execution, "runHooks">,
  run: PreparedRun,
  lease: Lease,
): Promise<RunResult> {
  const { target, clock, emit } = context;
  const { direction, savedCheck, state, first, mayLoseVersion, checkAfterRefusal } = run;
  const { plan, units = plan.migrations, migrations, writeGuard } = run.planned;
  for (const words of plan.accepted ?? []) emit({ event: "accepted", words });
  const computing = await computingOf(context);
  const executors = await computing.executors();
  const tidy = async (action: Action) => await computing.dropLate(action, target, context.ledger);
  const firstEntries = [
    ...(await checkLateCalls(state.late, { emit, target, clock, lease, plan, state, migrations, tidy })),
    ...run.planned.firstEntries,
    ...savedCheck.firstEntries(first),
  ];
  const planned = new Set(plan.migrations.map(({ migration }) => migration.version));
  const others = appliedIn(state).filter(({ version }) => !planned.has(version)).length;
  if (firstEntries.length > 0) {
    // What runs around the migrations may have taken long.
    await lease.check();
    await lease.record(firstEntries);
  }
  const mayWrite = async () => {
    if (!lease.isSure()) await lease.check();
  };
  const changed = await runMigrations(units, {
    ...context,
    target: withExecutors(target, executors, { ...context, mayWrite, entered: recordPhases(lease) }),
    lease,
    mayLoseVersion,
    checkAfterRefusal,
    writeGuard,
    lastRan: orderBack(state, [], {})[0],
    bound: savedCheck.tables,
  });
  return { changed, total: direction === "up" ? others + changed : others, defers: lease.defers() };
}

function choiceOf<Chosen>({ plan: saved, ...given }: RunOptions<Chosen>): Chosen {
  if (saved === undefined) return given as Chosen;
  // The choices of both directions consist of optional fields, and a saved plan has those of its own. It lists the calls
  // that it makes, so its migrations never run as a group.
  const only = new Set(migrationsOf(saved.plan).map(({ version }) => version));
  return { ...saved.choice, only, stepByStep: true } as Chosen;
}

export const nothingPlanned: PlannedRun = {
  plan: { migrations: [], now: new Map() },
  migrations: [],
  firstEntries: [],
};

/** A plan with the ledger and the files that it was made from. */
export interface PlannedOn extends PlannedRun, Ledger {
  readonly plan: GroupedPlan;
  readonly files: readonly MigrationFile[];
}

/** Plans the run against the current tables. Changes nothing. Throws ERR_PLAN_STALE if a saved plan no longer holds. */
export async function planOn<Chosen>(
  context: RunContext,
  kind: RunKind<Chosen>,
  wanted: RunOptions<Chosen>,
): Promise<PlannedOn> {
  const savedCheck = savedPlanCheck(wanted.plan, kind.direction, context);
  await savedCheck.checkFiles();
  const files = context.migrations.list();
  const rules = kind.rules(choiceOf(wanted), context, files);
  const made = await planNow(context, files, async (ledger, besideAnother) => {
    const input: PlanningInput = { context, files, ...ledger, besideAnother };
    const planned = savedCheck.isCarriedOut(ledger)
      ? nothingPlanned
      : await savedCheck.planUnchanged(ledger.state, () => planIfCurrent(input, rules.plan));
    if (planned === undefined) return undefined;
    const refused = async () => ({
      ...planned,
      plan: (await rules.withRefusals?.(planned.plan, false)) ?? planned.plan,
    });
    return await ifCurrent(context, ledger, refused, ({ plan }) => refusalIn(plan, context.target.name) !== undefined);
  });
  return { ...made, files, plan: { ...made.plan, groups: groupsIn(made.units) } };
}
