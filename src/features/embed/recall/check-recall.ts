/** Executes the action `checkRecall`, which consists of many searches. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { CheckRecallAction } from "../../../actions/model/action.ts";
import { deferralMarks } from "../../../schema/deferred-index.ts";
import { distanceOf } from "../../../schema/table-index.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { withRows } from "../../../run/executors.ts";
import type { Executor, RunContext } from "../../../run/run-context.ts";
import { RecallTooLow } from "./recall-too-low.ts";
import { measureRecall } from "./measure-recall.ts";

type RecallContext = Pick<RunContext, "clock" | "emit" | "runsCode" | "signal">;

export const checkRecallOnce: Executor<"checkRecall"> = (target, context) => async (action) => {
  await checkRecall(action, action.index.path, withRows(target), context);
  return { commits: 0 };
};

/** `path`: the column that the index is on now. Throws RecallTooLow. */
export async function checkRecall(
  action: CheckRecallAction,
  path: string,
  { rows, countRows }: Pick<Target, "countRows"> & { readonly rows: RowAccess },
  { clock, emit, runsCode = true, signal }: RecallContext,
): Promise<void> {
  // The rows of a rehearsal may be generated.
  if (!runsCode) return;
  const { table, name, index, minRecall, k, sample } = action;
  // `migrate verify --recall` measures it once it is built.
  if (Object.hasOwn(deferralMarks((await rows.columns(table)) ?? []), name)) return;
  const column = { table, path, distance: distanceOf(index) };
  const measured = await measureRecall({ rows, countRows }, column, { k, sample, clock, signal }).catch(
    (cause: unknown) => {
      if (signal?.aborted !== true) throw cause;
      throw new MigrateError("ERR_INTERRUPTED", {
        done: `index ${name} of ${table} is built, and its recall is not checked yet; run the command again to continue`,
      });
    },
  );
  if (measured.recall !== undefined && measured.recall < minRecall) throw new RecallTooLow(action, measured);
  emit({ event: "recall", table, index: name, k, ...measured });
}
