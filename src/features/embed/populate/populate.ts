/** Executes the step that computes rows of a table, with the code of the project. */
import type { PopulateTableAction } from "../../../actions/model/action.ts";
import { populating } from "../../../actions/rewrite/populating.ts";
import { isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import { codeHash } from "../calls/code-hash.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";
import type { Code } from "../compute/call-code.ts";
import { LimitReached } from "../calls/fill-failed.ts";
import { seldom } from "../fill/seldom.ts";
import { withRows } from "../../../run/executors.ts";
import type { Executor, ExecutorContext } from "../../../run/run-context.ts";

export const populate: Executor<"populateTable"> = (target, context) => async (action) => ({
  commits: await computeRows(action, withRows(target), context),
});

/** Returns how many versions of the table it made. */
async function computeRows(
  action: PopulateTableAction,
  target: Target & { readonly rows: RowAccess },
  { folder = process.cwd(), runsCode = true, budget, clock, signal, mayWrite, emit }: ExecutorContext,
): Promise<number> {
  // A database for trials has no rows of which code could make some.
  if (!runsCode) return 0;
  const { table, from, where } = action;
  const how = populating(action);
  const progress = seldom(clock, (rows: number, total?: number) => emit({ event: "computed", table, rows, total }));
  const [{ openCode }, { populateTable }] = await Promise.all([
    import("../compute/call-code.ts"),
    import("./populate-table.ts"),
  ]);
  let code: Code | undefined;
  let computed: readonly [sources: number, total: number | undefined] = [0, undefined];
  const printed = (line: string) => emit({ event: "printed", table, line });
  try {
    const { problem, merges, appends } = await populateTable(action, {
      rows: target.rows,
      clock,
      start: async () => (code ??= await openCode(how, { folder, budget, clock, signal, printed })).compute,
      codeHash: codeHash(how.with, folder),
      mayWrite,
      count: async () => await target.countRows?.(from, where).catch(() => undefined),
      progress: (...now) => {
        computed = now;
        progress.see(...now);
      },
    });
    if (problem !== undefined) emit({ event: "notComputed", table, rows: problem.rows, problem: problem.text });
    const isScattered = appends > 1 || (appends > 0 && Object.keys(await target.rows.indexes(table)).length > 0);
    return merges + (isScattered ? await compact(table, target, mayWrite) : 0);
  } catch (cause) {
    if (cause instanceof LimitReached) {
      const [done, total] = computed;
      throw new MigrateError(
        "ERR_LIMIT_REACHED",
        { limit: cause.message, column: `${from} for ${table}`, done, total },
        { cause },
      );
    }
    // What the target or the lease reports is stated, also by a run that was interrupted.
    if (signal?.aborted !== true || isMigrateError(cause)) throw cause;
    const done = `the rows of ${table} are computed in part; run the same command to continue`;
    throw new MigrateError("ERR_INTERRUPTED", { done }, { cause });
  } finally {
    progress.end();
    await code?.close();
  }
}

/** Merges the files of the appends, and lets indexes cover their rows. Returns how many versions it made. */
async function compact(table: string, target: Target, mayWrite: () => Promise<void>): Promise<number> {
  if (target.capabilities.actions.optimizeTable !== true) return 0;
  const action = { kind: "optimizeTable", table } as const;
  await mayWrite();
  try {
    return (await target.execute(action, await target.describeTable(table))).commits ?? 0;
  } catch (error) {
    // Beside fast writers it may never succeed, and searches are right without it.
    if (target.verdict(error).kind !== "conflict") throw error;
    return 0;
  }
}
