/** Gathers what `migrate report` shows. Changes nothing. What can't be determined becomes a problem of the report. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import { foldLedger } from "../../ledger/state/fold.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerRecord } from "../../ledger/state/record.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { Migration } from "../../migrations/load.ts";
import { resolvingOnce } from "../../migrations/resolve-once.ts";
import { loadedOnce } from "../../migrations/source.ts";
import { tableLives } from "./columns/column-lives.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import { inRunOrder } from "../../plan/history/replay.ts";
import { differenceDocument } from "../../plan/history/table-drift.ts";
import { planDocument } from "../../plan/document/plan-document.ts";
import { survey } from "../../run/prepare/estimate.ts";
import { computingOf, runContext, type MigratorOptions, type RunContext } from "../../run/run-context.ts";
import { planWhatWorks } from "../shared/check-migrations/plan-what-works.ts";
import { planToShow } from "../../commands/plan.ts";
import { prune } from "../../commands/prune.ts";
import { history, recognised, status, type StatusResult } from "../../commands/status.ts";
import { verifyTables } from "../../commands/verify/verify.ts";
import { noReturnOf } from "./no-return.ts";
import type { ReportDocument, ReportedDrift, ReportedPreparing } from "./report-document.ts";
import { reportedMigrations } from "./report-migrations.ts";
import { ranIn, runsOf } from "./runs.ts";

export interface ReportChoice {
  /** When the report is made, as an ISO text. */
  readonly madeAt: string;
  /** Whether the recall of vector indexes is measured. */
  readonly recall?: boolean | undefined;
}

export async function makeReport(given: MigratorOptions, { madeAt, recall }: ReportChoice): Promise<ReportDocument> {
  const context = runContext({ ...given, migrations: loadedOnce(given.migrations) });
  const { target, runner, migrations: source } = context;
  const found = await status(context);
  const records = await history(context);
  const files = source.list();
  const { state } = await recognised(foldLedger(records), files, context);
  const problems = problemsOf(found);
  const attempt = attempts(problems);
  const loaded = await loadAll(context, files, attempt);
  const migrations = withStepsThatRan(loaded, state);
  const kept = ((await attempt(() => prune(context, {}))) ?? []).filter(({ isGone }) => !isGone);
  const ordered = inRunOrder(migrations, state);
  const { tables, problem: tablesProblem } = tableLives(
    ordered,
    ordered.find((one) => !isComplete(one, state))?.version,
  );
  return {
    format: 1,
    target: target.name,
    madeAt,
    tool: runner.tool,
    ...(await migrationsIn({ context, found, records, state, migrations }, attempt)),
    runs: runsOf(records),
    tables,
    tablesProblem,
    noReturn: await attempt(async () => noReturnOf(migrations, state, target.capabilities, kept)),
    drift: await driftIn(context),
    preparing: preparingIn(found),
    recall:
      recall === true
        ? await attempt(async () => await (await computingOf(context)).verifyRecall(context, {}))
        : undefined,
    kept: kept.map(({ table, version, migration }) => ({ table, version, migration })),
    doubts: found.doubts,
    deferred: found.deferred,
    lease: found.lease,
    problems: [...new Set(problems)],
  };
}

function isComplete({ version }: Migration, { migrations }: LedgerState): boolean {
  const known = migrations.get(version);
  return known?.status === "applied" && known.reversal === undefined;
}

type Attempt = <Result>(work: () => Promise<Result>) => Promise<Result | undefined>;

/** Adds what is thrown to the problems. Throws ERR_INTERRUPTED. */
function attempts(problems: string[]): Attempt {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!isMigrateError(error) || error.outcome === "interrupted") throw error;
      problems.push(error.message);
      return undefined;
    }
  };
}

function problemsOf({ problem, changed, missing }: StatusResult): string[] {
  return [
    ...(problem === undefined ? [] : [problem]),
    ...changed.map((one) => one.problem),
    ...missing.map((one) => `${formatMigration(one)} has no file in the migrations folder, so its changes are unknown`),
  ];
}

async function loadAll(
  { migrations: source }: RunContext,
  files: readonly MigrationFile[],
  attempt: Attempt,
): Promise<readonly Migration[]> {
  const loaded: Migration[] = [];
  await resolvingOnce(async () => {
    for (const file of files) loaded.push(...((await attempt(async () => [await source.load(file)])) ?? []));
  });
  return loaded;
}

interface Gathered {
  readonly context: RunContext;
  readonly found: StatusResult;
  readonly records: readonly LedgerRecord[];
  readonly state: LedgerState;
  readonly migrations: readonly Migration[];
}

async function migrationsIn({ context, found, records, state, migrations }: Gathered, attempt: Attempt) {
  const { target, ledger } = context;
  const nothing = foldLedger([]);
  const { migrations: planned } = planWhatWorks(
    inRunOrder(migrations, state).map((migration) => ({ migration, doubts: [] })),
    { state: nothing, inDoubt: nothing.inDoubt, target, ledger },
    // A step that can't work is a problem of the columns, and of the plan if it is pending.
    () => {},
  );
  const plan = await attempt(async () => {
    const made = await planToShow(context);
    return planDocument(made, target.name, "up", await survey(made, context));
  });
  const reported = reportedMigrations({
    state,
    missing: new Set(found.missing.map(({ version }) => version)),
    pending: found.pending,
    ranIn: ranIn(records),
    planned: planDocument({ migrations: planned, now: new Map() }, target.name, "up"),
    plan,
  });
  const { releases, notes } = plan?.contracts ?? {};
  return { migrations: reported, verdict: plan?.verdict, contracts: releases && notes && { releases, notes } };
}

async function driftIn(context: RunContext): Promise<ReportedDrift> {
  try {
    const { columns, differences } = await verifyTables(context);
    return { checked: true, columns, differences: differences.map(differenceDocument) };
  } catch (error) {
    if (!isMigrateError(error) || error.outcome === "interrupted") throw error;
    return { checked: false, why: error.message };
  }
}

function preparingIn({ pending }: StatusResult): readonly ReportedPreparing[] {
  return pending.flatMap(({ version, preparing }) =>
    preparing.map(({ table, path, progress }) => ({ version, table, path, ...progress })),
  );
}
