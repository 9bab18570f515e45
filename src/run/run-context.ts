/** The options of every run, and the same with the defaults filled in and the ledger opened. */
import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { MigrateError } from "../errors/migrate-error.ts";
import { systemClock, type Clock } from "../time/clock.ts";
import type { Runner } from "../ledger/lease/record-chain.ts";
import type { Journal } from "../ledger/journal/journal.ts";
import { journalOf } from "../ledger/journal/open-journal.ts";
import { loadedOnce, type MigrationSource } from "../migrations/source.ts";
import type { Guards } from "../plan/assess/guards.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import type { LedgerState } from "../ledger/state/ledger-state.ts";
import type { Plan, PlannedAction, PlannedMigration } from "../plan/make-plan.ts";
import type { Database } from "../schema/table.ts";
import type { Action, ActionFor, ActionKind } from "../actions/model/action.ts";
import type { Executed, TableSnapshot, Target } from "../targets/contract/target.ts";
import type { Budget } from "./calls/budget.ts";
import {
  noRows,
  type IndexRecall,
  type KeyCheck,
  type LoaderState,
  type PreparingColumn,
  type RecallChoice,
  type StepSample,
  type WaitingRows,
} from "./computed.ts";
import type { Emit } from "./events.ts";
import type { PlacedHooks } from "./hooks.ts";
import type { Observable } from "./observed.ts";
import type { PlanCheck } from "./plan-check.ts";
import type { Phase } from "./phase.ts";
import { watchedIn, type StaleColumn } from "./stale-text.ts";
import packageJson from "../../package.json" with { type: "json" };

export interface MigratorOptions extends Observable {
  readonly target: Target;
  readonly migrations: MigrationSource;
  /** The ledger's table. */
  readonly ledger: string;
  readonly lease: {
    /** Milliseconds without a new record after which another runner may take over. */
    readonly duration: number;
    /** Milliseconds to wait for another runner. */
    readonly patience: number;
  };
  /** The folder of the project, in which code that computes values is found; the working directory when absent. */
  readonly folder?: string | undefined;
  /** If false, no code of the project runs, the values that it would compute stay null, and no recall is checked. True when absent. */
  readonly runsCode?: boolean | undefined;
  /** What calls of code may cost; several runs may share it. No limit when absent. */
  readonly budget?: Budget | undefined;
  /** A Python that has the package pylance, for loading computed columns; they are merged when absent. */
  readonly python?: string | undefined;
  /** Without it, no column is computed. */
  readonly computing?: (() => Promise<ColumnComputing>) | undefined;
  /** If absent, migrations may lose anything. */
  readonly guards?: Guards | undefined;
  /** Called only if something is pending. */
  readonly planChecks?: readonly PlanCheck[] | undefined;
  readonly hooks?: PlacedHooks | undefined;
  readonly clock?: Clock | undefined;
  /** Who runs it, for the ledger; found out when absent. */
  readonly by?: string | undefined;
  readonly runner?: Runner | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RunContext extends MigratorOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly runner: Runner;
  readonly emit: Emit;
}

/**
 * What computes columns and rows by code of the project, and measures vector indexes. A feature brings it. Without that
 * feature, no such action can be executed.
 */
export interface ColumnComputing {
  /** For actions that are more than one call of the target. */
  executors(): Promise<Executors>;
  /** Drops the computed values that a late append of an action, or a run that was killed, has left beside the table. */
  dropLate(action: Action, target: Pick<Target, "rows" | "listTables">, ledger: string): Promise<void>;
  /** How many rows code will compute for an action, of which its table has `all` now; null if that is unknown. */
  countRows(planned: PlannedAction, before: readonly Action[], tables: CountedTables): Promise<number | null>;
  /** The plan, with the refusals of actions whose code is not there. */
  withMissingCode(plan: Plan, context: RunContext): Promise<Plan>;
  checkKeys(plan: Plan, target: Target): Promise<KeyCheck>;
  /** By the version of the pending migration. `atWork`: those that another run applies now, and so prepares itself. */
  preparingColumns(
    context: RunContext,
    pending: readonly MigrationFile[],
    atWork: readonly number[],
  ): Promise<ReadonlyMap<number, readonly PreparingColumn[]>>;
  /** The watched columns with rows that lack a right value. */
  listStale(context: RunContext, state: LedgerState): Promise<readonly StaleColumn[]>;
  /** The same, to compute these rows. `hasRun`: whether this run has applied migrations, and so tried failed rows. */
  waitingRows(context: RunContext, state: LedgerState, hasRun: boolean): Promise<WaitingRows>;
  /** Tries the code of the actions on at most `size` rows each. */
  sampleSteps(
    options: MigratorOptions,
    plan: Plan,
    migrations: readonly PlannedMigration[],
    size: number,
  ): Promise<ReadonlyMap<PlannedAction, StepSample>>;
  /** Undefined where no program can reach the files of tables, so that values are merged. */
  findLoader(options: Pick<MigratorOptions, "python" | "target">): Promise<LoaderState | undefined>;
  /** Throws ERR_USAGE if the target can't be searched. */
  verifyRecall(options: MigratorOptions, choice: RecallChoice): Promise<readonly IndexRecall[]>;
  /** Drops the prepared columns of a table. */
  dropPrepared(target: Target, table: string): Promise<unknown>;
}

export interface CountedTables {
  readonly now: Database;
  /** How many rows the table of the action has. */
  readonly all: number | undefined;
  readonly target: Target;
}

/** What executors need of a run. */
export interface ExecutorContext extends Pick<
  RunContext,
  "budget" | "clock" | "emit" | "folder" | "ledger" | "python" | "runsCode" | "signal"
> {
  /** Throws if this run may not write any more. */
  readonly mayWrite: () => Promise<void>;
  /** Called when a phase of computing a column begins. */
  readonly entered?: ((phase: Phase) => Promise<void>) | undefined;
  /** Whether rows for which the code failed are not computed again, nor reported again. */
  readonly keepsFailed?: boolean | undefined;
}

export type ExecuteAction<Kind extends ActionKind> = (
  action: ActionFor<Kind>,
  seen: TableSnapshot | undefined,
) => Promise<Executed>;

/** Called once for each run. Of `target`, actions of this kind are calls, and others have their executors. */
export type Executor<Kind extends ActionKind, Context = ExecutorContext> = (
  target: Target,
  context: Context,
) => ExecuteAction<Kind>;

/** By the kinds of their actions. */
export type Executors<Context = ExecutorContext> = { readonly [Kind in ActionKind]?: Executor<Kind, Context> };

/** Kinds of actions that are no call of a target. */
const computed: ReadonlySet<ActionKind> = new Set([
  "prepareColumn",
  "fillColumn",
  "catchUpColumn",
  "populateTable",
  "checkRecall",
]);

function refuseComputed(plan: Plan): Plan {
  const refusal = {
    reason: "failure",
    problem: "this copy of lance-migrate has no part that computes values",
  } as const;
  const migrations = plan.migrations.map((one) => ({
    ...one,
    actions: one.actions.map((action) =>
      action.commits.some((commit) => computed.has(commit.action.kind))
        ? { ...action, refusal: action.refusal ?? refusal }
        : action,
    ),
  }));
  return { ...plan, migrations };
}

/** Without the feature. What the ledger states about watched columns is kept for releases that have it. */
const nothing: ColumnComputing = {
  executors: async () => ({}),
  async dropLate() {},
  countRows: async () => null,
  withMissingCode: async (plan) => refuseComputed(plan),
  checkKeys: async () => ({ problems: new Map(), usable: new Set() }),
  preparingColumns: async () => new Map(),
  listStale: async () => [],
  waitingRows: async (_, { deferral }) => ({ ...noRows, names: watchedIn(deferral) }),
  sampleSteps: async () => new Map(),
  findLoader: async () => undefined,
  verifyRecall: async () => [],
  async dropPrepared() {},
};

/** What the feature brings; it is loaded here. Without the feature, what refuses to compute. */
export async function computingOf({ computing }: Pick<MigratorOptions, "computing">): Promise<ColumnComputing> {
  return (await computing?.()) ?? nothing;
}

export function runContext(options: MigratorOptions): RunContext {
  const { target, ledger, clock = systemClock, runner = thisRunner(options.by), emit = () => {} } = options;
  // A run plans twice.
  const migrations = loadedOnce(options.migrations);
  const journal = journalOf(target, ledger, clock);
  const read = async () => {
    const records = await journal.read();
    if (records.length === 0) await checkExists(options);
    return records;
  };
  return { ...options, migrations, clock, runner, emit, journal: { ...journal, read } };
}

/** Throws ERR_DATABASE_MISSING if the database has no tables and its guard allows no new one: the address may be mistyped. */
export async function checkExists({ target, guards }: Pick<MigratorOptions, "target" | "guards">): Promise<void> {
  if (guards?.mustExist !== true || (await target.listTables()).length > 0) return;
  throw new MigrateError("ERR_DATABASE_MISSING", { target: target.name, place: target.place });
}

/** The identity of this process in the ledger. `by`: who runs it, if the user has said so. */
export function thisRunner(by = userName()): Runner {
  return {
    by: `${by}@${hostname()} (process ${process.pid})`,
    run: randomUUID(),
    tool: `${packageJson.name} ${packageJson.version}`,
  };
}

/** Who started a pipeline, by the variables of CI systems. Their operating-system user is the same for everybody. */
const actorVariables = [
  "MIGRATE_ACTOR",
  "GITHUB_ACTOR",
  "GITLAB_USER_LOGIN",
  "BUILDKITE_BUILD_CREATOR",
  "CIRCLE_USERNAME",
  "BUILD_REQUESTEDFOR",
];

/** MIGRATE_ACTOR, or who started the pipeline, or the user of the operating system. */
function userName(): string {
  const actor = actorVariables.map((name) => process.env[name]).find((name) => name !== undefined && name !== "");
  if (actor !== undefined) return actor;
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that has no name.
    return String(process.getuid?.() ?? "somebody");
  }
}
