/** Gives a target the actions for which code of the project computes values. Each consists of many calls of the target and of the code. */
import type { EvaluateWith } from "../../actions/model/computation.ts";
import { isInterruption, isMigrateError } from "../../errors/migrate-error.ts";
import type { Action, ActionFor, PrepareColumnAction } from "../../actions/model/action.ts";
import { preparedName } from "../../actions/rewrite/prepared-columns.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import type { RowAccess } from "../../targets/contract/row-access.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import { openSession, type ComputeSession, type FillProject } from "./compute-session.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import { RecallTooLow } from "../recall/describe-recall.ts";
import { checkRecall } from "../recall/with-recall.ts";
import type { Prepared } from "./prepare-column.ts";
import type { PrepareContext } from "./prepared-table.ts";
import type { Outrun } from "../events.ts";
import { watchedPhases } from "./watched-phases.ts";
import { preparingsOf, resultsOf, stagingsOf } from "../compute/staging-name.ts";

/** Milliseconds after which rows are looked for again that writes from before a switch have changed. */
const settlingTime = 1_000;

type ComputingAction = ActionFor<"fillColumn" | "prepareColumn" | "catchUpColumn">;

export function withFill(target: Target, project: FillProject): Target {
  const { rows } = target;
  if (rows === undefined) return target;
  return {
    ...target,
    async execute(action: Action, seen: TableSnapshot | undefined) {
      if (action.kind === "switchColumn") {
        // Rows may have been written, or the prepared column changed, since it was prepared.
        const again = { ...project, keepsFailed: true };
        const made = await compute({ ...action, kind: "prepareColumn" }, { ...target, rows }, again);
        if (made === 0) return { ...(await target.execute(action, seen)), commits: 1 };
        try {
          return { ...(await target.execute(action, await target.describeTable(action.table))), commits: made + 1 };
        } catch (cause) {
          // Such an error states itself what it means for the run.
          throw isMigrateError(cause) ? cause : new SwitchFailed(made, cause);
        }
      }
      if (!isComputing(action) && action.kind !== "populateTable") return await target.execute(action, seen);
      try {
        const commits =
          action.kind === "populateTable"
            ? await (await import("../populate/with-populate.ts")).populate(action, { ...target, rows }, project)
            : await compute(action, { ...target, rows }, project);
        return { commits };
      } catch (error) {
        const failed = failureIn(error);
        // What else prepares a column makes versions too.
        if (failed !== undefined && !isOneStep(action)) failed.merges = undefined;
        throw error;
      }
    },
    verdict: (error) => {
      if (error instanceof SwitchFailed) return { ...target.verdict(error.cause), commits: error.commits };
      return isOurs(error) ? { kind: "refused", commits: failureIn(error)?.merges } : target.verdict(error);
    },
    explain: (error) => explainFill(error, target),
  };
}

/** Why values could not be computed, in one line. */
export function explainFill(error: unknown, target: Pick<Target, "explain">): string {
  if (error instanceof SwitchFailed) return target.explain(error.cause);
  if (error instanceof FillFailed) return `${error.message}; what was computed before is kept`;
  return isOurs(error) || error instanceof RecallTooLow ? error.message : target.explain(error);
}

/** The columns were not switched, after rows had been computed. */
class SwitchFailed extends Error {
  /** How many versions that made. */
  readonly commits: number;

  constructor(commits: number, cause: unknown) {
    super("the columns were not switched", { cause });
    this.commits = commits;
  }
}

function failureIn(error: unknown): FillFailed | undefined {
  const failed = isInterruption(error) ? error.cause : error;
  return failed instanceof FillFailed ? failed : undefined;
}

/** Whether nothing but the computing itself makes versions. */
function isOneStep({ kind }: Action): boolean {
  return kind === "fillColumn" || kind === "populateTable";
}

function isComputing(action: Action): action is ComputingAction {
  return action.kind === "fillColumn" || action.kind === "prepareColumn" || action.kind === "catchUpColumn";
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
  const session = openSession(target, project, { table, path }, phases);
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

/**
 * Drops what a late append of an action that is done has left, or a run that was killed after its last merge: no run would
 * merge or drop it any more. While the column is being prepared, its staging table belongs to that.
 */
export async function dropLateStaging(
  action: Action,
  { rows, listTables }: Pick<Target, "rows" | "listTables">,
  ledger: string,
): Promise<void> {
  if (rows === undefined || (action.kind !== "backfillColumn" && !isComputing(action))) return;
  const tables = await listTables();
  if (preparingsOf(tables, ledger, action).length > 0) return;
  const prepared = { table: action.table, path: formatPath([preparedName(parsePath(action.path)[0]!)]) };
  const late = [action, prepared].flatMap((column) => stagingsOf(tables, ledger, column));
  // Another ledger may have results of the same column.
  const results = resultsOf(tables, prepared).filter((name) => name.startsWith(`${ledger}.`));
  for (const name of [...late, ...results.toReversed()]) await rows.drop(name);
}

async function computed(action: ComputingAction, context: PrepareContext): Promise<Prepared> {
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

/** Whether the run may end because of an error, and resume later: what was computed is kept. */
function isOurs(error: unknown): error is Error {
  return error instanceof FillFailed || isInterruption(error);
}
