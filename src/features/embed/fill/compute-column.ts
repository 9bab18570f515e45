/** Executes the actions for which code of the project computes values. Each consists of many calls of the target and of the code. */
import type { EvaluateWith } from "../../../actions/model/computation.ts";
import { isInterruption, isMigrateError } from "../../../errors/migrate-error.ts";
import type { ActionFor, PrepareColumnAction } from "../../../actions/model/action.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { CallOutcome, Executed, Target } from "../../../targets/contract/target.ts";
import { ActionFailed } from "../../../run/calls/action-failed.ts";
import { withRows } from "../../../run/executors.ts";
import type { Executor } from "../../../run/run-context.ts";
import { openComputeSession, type ComputeSession, type FillProject } from "./compute-session.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import { checkRecall } from "../recall/check-recall.ts";
import type { PreparationResult } from "./prepare-column.ts";
import type { PrepareContext } from "./prepared-table.ts";
import type { Outrun } from "../../../run/events.ts";
import { watchedPhases } from "./watched-phases.ts";
import { preparingsOf } from "../compute/staging-name.ts";
import { dropLateStaging } from "./drop-late-staging.ts";

/** Milliseconds after which rows are looked for again that writes from before a switch have changed. */
const settlingTime = 1_000;

type ComputingAction = ActionFor<"fillColumn" | "prepareColumn" | "catchUpColumn">;

export const fillColumn: Executor<"fillColumn", FillProject> = (target, project) => async (action) => ({
  commits: await compute(action, withRows(target), project),
});

export function prepareColumn(target: Target, project: FillProject) {
  return async (action: ActionFor<"prepareColumn" | "catchUpColumn">): Promise<Executed> => ({
    commits: await computeInSteps(action, target, project),
  });
}

export const switchColumn: Executor<"switchColumn", FillProject> = (target, project) => async (action, seen) => {
  // Rows may have been written, or the prepared column changed, since it was prepared.
  const again = { ...project, keepsFailed: true };
  const made = await computeInSteps({ ...action, kind: "prepareColumn" }, target, again);
  if (made === 0) return { ...(await target.execute(action, seen)), commits: 1 };
  try {
    return { ...(await target.execute(action, await target.describeTable(action.table))), commits: made + 1 };
  } catch (cause) {
    // Such an error states itself what it means for the run.
    throw isMigrateError(cause) ? cause : new SwitchFailed(made, cause, target);
  }
};

/** If it fails, it is unknown how many versions were made: more than those of the fill. */
async function computeInSteps(action: ComputingAction, target: Target, project: FillProject): Promise<number> {
  try {
    return await compute(action, withRows(target), project);
  } catch (error) {
    const failed = isInterruption(error) ? error.cause : error;
    if (failed instanceof FillFailed) failed.merges = undefined;
    throw error;
  }
}

/** The columns were not switched, after rows had been computed, which made versions. */
class SwitchFailed extends ActionFailed {
  readonly #outcome: CallOutcome;

  constructor(commits: number, cause: unknown, target: Target) {
    super(target.explain(cause), { cause });
    this.#outcome = { ...target.verdict(cause), commits };
  }

  override get outcome(): CallOutcome {
    return this.#outcome;
  }
}

/** Computes values. Returns how many versions of the table it made. */
export async function compute(
  action: ComputingAction,
  target: Target & { readonly rows: RowAccess },
  project: FillProject,
): Promise<number> {
  const { table, path } = action;
  const { clock, mayWrite, emit, runsCode = true, signal, keepsFailed = false } = project;
  const pause = runsCode ? async () => await clock.sleep(settlingTime, signal) : undefined;
  const phases = watchedPhases(project, { table, path });
  const session = openComputeSession(target, project, { table, path }, phases);
  const outrun = (how: Outrun) => emit({ event: "outrun", table, path, ...how });
  const context: PrepareContext = {
    target,
    rows: target.rows,
    clock,
    signal,
    isWhole: project.shard === undefined,
    mayWrite,
    phases,
    async checkRecall(check, path) {
      await phases.enter("measuring recall");
      await checkRecall(check, path, target, project);
    },
    outrun,
    loadMarks: session.loadMarks,
    ahead: async (filling, columns) => await session.computeAhead(filling, columns),
    fill: async (filling, columns, { isNew = false, ...how }) => {
      const keeps = keepsFailed || isNew || how.failure !== undefined;
      return await session.fill(filling, columns, {
        ...how,
        keepsFailed: keeps,
        verdict: (error) => target.verdict(error),
        signal,
        outrun,
        ...(isNew && { pause }),
      });
    },
  };
  const work = async () => {
    const done = await computed(action, context);
    if (action.kind === "prepareColumn" && action.evaluate !== undefined && context.isWhole && runsCode) {
      await phases.enter("evaluating");
      await evaluate(action, action.evaluate, { rows: target.rows, session, project });
    }
    return done;
  };
  const { problem, commits } = await work().finally(() => session.close());
  if (action.kind === "catchUpColumn" && action.isLater !== true) {
    // Everything is computed, so no lease is needed any more. Later, they would be those of another migration.
    for (const name of preparingsOf(await target.listTables(), project.ledger, action)) await target.rows.drop(name);
    await dropLateStaging(action, target, project.ledger);
  }
  if (problem !== undefined && project.keepsFailed !== true)
    emit({ event: "notComputed", table, path, rows: problem.rows, problem: problem.text });
  return commits;
}

interface EvaluationContext {
  readonly rows: RowAccess;
  readonly session: ComputeSession;
  readonly project: FillProject;
}

/** Throws EvaluationTooLow, unless that is only reported. */
async function evaluate(action: PrepareColumnAction, how: EvaluateWith, context: EvaluationContext): Promise<void> {
  const { rows, session, project } = context;
  const { table, path } = action;
  const [{ evaluateQueries }, { decisive, EvaluationTooLow }] = await Promise.all([
    import("../evaluate/evaluate-queries.ts"),
    import("../evaluate/judge.ts"),
  ]);
  const { evaluated, hasExpected } = await evaluateQueries(action, how, {
    rows,
    folder: project.folder ?? process.cwd(),
    withCode: async (code, column, work) =>
      await session.withCode({ ...code, kind: "fillColumn", table, path }, [column], work),
  });
  const isEnough = how.least === undefined || decisive(evaluated, hasExpected) >= how.least;
  project.emit({ event: "evaluated", table, path, least: how.least, isEnough, ...evaluated });
  if (!isEnough && project.onlyReports !== true) throw new EvaluationTooLow(action, evaluated);
}

async function computed(action: ComputingAction, context: PrepareContext): Promise<PreparationResult> {
  const { catchUpColumn, prepareColumn } = await import("./prepare-column.ts");
  switch (action.kind) {
    case "prepareColumn":
      return await prepareColumn(action, context);
    case "catchUpColumn":
      return await catchUpColumn(action, context);
    case "fillColumn": {
      const columns = await context.rows.columns(action.table);
      if (columns === undefined) throw new Error(`there is no table ${action.table}`);
      const { problem, merges } = await context.fill(action, columns, {});
      return { problem, commits: merges };
    }
  }
}
