/** Gives a target the actions for which code of the project computes values. Each consists of many calls of the target and of the code. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Action, ActionFor, FillColumnAction } from "../../actions/model/action.ts";
import type { Column } from "../../schema/data-type.ts";
import type { RowAccess } from "../../targets/contract/row-access.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import { codeHash } from "../../migrations/code-hash.ts";
import type { Code } from "./call-code.ts";
import type { FillContext, Filled } from "./fill-context.ts";
import { FillFailed } from "./fill-failed.ts";
import { RecallTooLow } from "../recall/describe-recall.ts";
import { checkRecall } from "../recall/with-recall.ts";
import type { Prepared, PrepareContext } from "./prepare-column.ts";
import type { Shard } from "./shard.ts";
import { preparingsOf, stagingName, stagingsOf } from "./staging-name.ts";
import type { Clock } from "../../time/clock.ts";
import type { RunContext } from "../run-context.ts";

export interface FillProject extends Pick<RunContext, "clock" | "emit" | "folder" | "ledger" | "runsCode" | "signal"> {
  /** Throws if this run may not write any more. */
  readonly mayWrite: () => Promise<void>;
  /** The rows that are computed; all when absent. */
  readonly shard?: Shard | undefined;
  /** Whether rows for which the code failed are not computed again, nor reported again. */
  readonly keepsFailed?: boolean | undefined;
}

/** Milliseconds after which rows are looked for again that writes from before a switch have changed. */
const settlingTime = 1_000;

type ComputingAction = ActionFor<"fillColumn" | "prepareColumn" | "catchUpColumn">;

export function withFill(target: Target, project: FillProject): Target {
  const { rows } = target;
  if (rows === undefined) return target;
  const commits = new WeakMap<Action, number>();
  return {
    ...target,
    async execute(action: Action, seen: TableSnapshot | undefined) {
      if (action.kind === "switchColumn") {
        // Rows may have been written, or the prepared column changed, since it was prepared.
        const again = { ...project, keepsFailed: true };
        const made = await compute({ ...action, kind: "prepareColumn" }, { ...target, rows }, again);
        commits.set(action, made + 1);
        return await target.execute(action, made === 0 ? seen : await target.describeTable(action.table));
      }
      if (!isComputing(action)) return await target.execute(action, seen);
      try {
        commits.set(action, await compute(action, { ...target, rows }, project));
      } catch (error) {
        // What else prepares a column makes versions too.
        const failed = isMigrateError(error, "ERR_INTERRUPTED") ? error.cause : error;
        const made = action.kind === "fillColumn" && failed instanceof FillFailed ? failed.merges : undefined;
        if (made !== undefined) commits.set(action, made);
        throw error;
      }
      return undefined;
    },
    commitsOf: (action) => commits.get(action) ?? target.commitsOf?.(action),
    verdict: (error) => (isOurs(error) ? { kind: "refused" } : target.verdict(error)),
    explain: (error) => explainFill(error, target),
  };
}

/** Why values could not be computed, in one line. */
export function explainFill(error: unknown, target: Pick<Target, "explain">): string {
  if (error instanceof FillFailed) return `${error.message}; what was computed before is kept`;
  return isOurs(error) || error instanceof RecallTooLow ? error.message : target.explain(error);
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
  const { clock, mayWrite, emit, runsCode = true, signal, keepsFailed = action.kind === "catchUpColumn" } = project;
  // Applications may have begun writes before the switch.
  const pause =
    action.kind === "catchUpColumn" && runsCode ? async () => await clock.sleep(settlingTime, signal) : undefined;
  const fill = async (filling: FillColumnAction, columns: readonly Column[]) =>
    await fillWith(filling, columns, target, { ...project, keepsFailed, pause });
  const { problem, commits } = await computed(action, {
    target,
    rows: target.rows,
    clock,
    isWhole: project.shard === undefined,
    mayWrite,
    checkRecall: async (check, path) => await checkRecall(check, path, target, project),
    outrun: (tries) => emit({ event: "outrun", table, path, tries }),
    fill,
  });
  // Everything is computed, so no lease is needed any more.
  if (action.kind === "catchUpColumn")
    for (const name of preparingsOf(await target.listTables(), project.ledger, action)) await target.rows.drop(name);
  if (problem !== undefined && project.keepsFailed !== true)
    emit({ event: "notComputed", table, path, rows: problem.rows, problem: problem.text });
  return commits;
}

/**
 * Drops what a late append of an action that is done has left: no run would merge or drop it any more. While the column
 * is being prepared, its staging table belongs to that.
 */
export async function dropLateStaging(
  action: Action,
  { rows, listTables }: Pick<Target, "rows" | "listTables">,
  ledger: string,
): Promise<void> {
  if (rows === undefined || (action.kind !== "backfillColumn" && !isComputing(action))) return;
  const tables = await listTables();
  if (preparingsOf(tables, ledger, action).length > 0) return;
  for (const name of stagingsOf(tables, ledger, action)) await rows.drop(name);
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
      const { problem, merges } = await context.fill(action, columns);
      return { problem, commits: merges };
    }
  }
}

async function fillWith(
  action: FillColumnAction,
  columns: readonly Column[],
  { rows, listTables, count }: Pick<Target, "count" | "listTables"> & { readonly rows: RowAccess },
  project: FillProject & Pick<FillContext, "pause">,
): Promise<Filled> {
  const {
    folder = process.cwd(),
    runsCode = true,
    clock,
    signal,
    mayWrite,
    ledger,
    emit,
    shard,
    pause,
    keepsFailed,
  } = project;
  const { table, path } = action;
  const [{ openCode, sampleCode }, { fillColumn }] = await Promise.all([
    import("./call-code.ts"),
    import("./fill-column.ts"),
  ]);
  let code: Code | undefined;
  const start = async () => {
    code ??= runsCode ? await openCode(action, { folder, clock, signal }) : sampleCode(action, columns);
    return code.compute;
  };
  const staging = stagingName(ledger, action, shard);
  const progress = seldom(clock, (done: number, total?: number) =>
    emit({ event: "computed", table, path, rows: done, total }),
  );
  try {
    return await fillColumn(
      action,
      { columns },
      {
        rows,
        start,
        codeHash: runsCode ? codeHash(action.with, folder) : undefined,
        keepsFailed,
        shard,
        staging,
        staged: shard === undefined ? stagingsOf(await listTables(), ledger, action) : [staging],
        mayWrite,
        pause,
        // Only those who watch need it.
        count: count && (async (where) => await count(table, where).catch(() => undefined)),
        progress: progress.see,
      },
    );
  } catch (cause) {
    // What the target or the lease reports is stated, also by a run that was interrupted.
    if (signal?.aborted !== true || isMigrateError(cause)) throw cause;
    const done = `${table}.${path} is computed in part; run the same command to continue`;
    throw new MigrateError("ERR_INTERRUPTED", { done }, { cause });
  } finally {
    progress.end();
    await code?.close();
  }
}

/** Passes something on at most once a second, and at the end the last. */
function seldom<Given extends readonly unknown[]>(clock: Clock, emit: (...given: Given) => void) {
  let next = 0;
  let last: Given | undefined;
  return {
    see(...given: Given) {
      last = given;
      if (clock.steady() < next) return;
      next = clock.steady() + 1_000;
      last = undefined;
      emit(...given);
    },
    end() {
      if (last !== undefined) emit(...last);
    },
  };
}

/** Whether the run may end because of an error, and resume later: what was computed is kept. */
function isOurs(error: unknown): error is Error {
  return error instanceof FillFailed || isMigrateError(error, "ERR_INTERRUPTED");
}
