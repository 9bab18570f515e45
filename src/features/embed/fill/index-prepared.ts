/** The index on a prepared column. */
import type { Action, PrepareColumnAction } from "../../../actions/model/action.ts";
import { stepHash } from "../../../migrations/checksum.ts";
import { deferralMarks } from "../../../schema/deferred-index.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { RecallTooLow } from "../recall/recall-too-low.ts";
import type { PrepareContext, PreparedTable } from "./prepared-table.ts";

/** Keys of the metadata of the marks: the hash of the index, and the one of the index and the condition that it fulfils. */
const indexKey = "lance_migrate_index";
const recallKey = "lance_migrate_recall";

/** Creates the index, unless it is there or must be deferred, and drops it again if it does not fulfil the condition. */
export async function indexPrepared(
  prepared: PreparedTable,
  { table, path, index: wanted, condition }: PrepareColumnAction,
  { target, rows, checkRecall, phases }: PrepareContext,
): Promise<void> {
  const isOnIt = (one: { readonly path: string } | undefined) =>
    one !== undefined && parsePath(one.path)[0] === prepared.next;
  const hasIndex = async (name: string) => isOnIt((await rows.indexes(table))[name]);
  await prepared.change(async () => {
    const deferred = deferralMarks(await prepared.columns());
    const found = Object.entries({ ...deferred, ...(await rows.indexes(table)) });
    // Of an earlier form of the step.
    const other = found.find(([name, one]) => name !== wanted?.name && isOnIt(one));
    return other && { kind: "dropIndex", table, name: other[0] };
  });
  if (wanted === undefined) return;
  await phases.enter("indexing");
  const { name, ...type } = wanted;
  const own = formatPath([prepared.next]);
  const drop: Action = { kind: "dropIndex", table, name };
  const dropAgain = async () => await prepared.change(async () => ((await hasIndex(name)) ? drop : undefined));
  // Targets report the parameters of an index differently, or not at all.
  if ((await noted(prepared, indexKey)) !== stepHash(wanted)) await dropAgain();
  await prepared.note(prepared.mark, { [indexKey]: stepHash(wanted) });
  const create: Action = { kind: "createIndex", table, name, index: { path: own, ...type } };
  await prepared.change(async () => ((await hasIndex(name)) ? undefined : create));
  if (!(await prepared.columns()).some((column) => column.name === prepared.next)) {
    // The engine accepts such an index, and then refuses filters on the table (docs/internals/engine.md).
    await target.execute(drop, await target.describeTable(table)).catch(() => {});
    throw new Error(`${prepared.next} was dropped while its index was created`);
  }
  // Rows that were merged since it was checked are few.
  if (condition === undefined || (await noted(prepared, recallKey)) === stepHash({ wanted, condition })) return;
  try {
    await checkRecall({ kind: "checkRecall", table, name, index: { path, ...type }, ...condition }, own);
  } catch (error) {
    // After an interruption, the next run only checks it.
    if (error instanceof RecallTooLow) await dropAgain();
    throw error;
  }
  if (await hasIndex(name)) await prepared.note(prepared.mark, { [recallKey]: stepHash({ wanted, condition }) });
}

async function noted(prepared: PreparedTable, key: string): Promise<string | null | undefined> {
  return (await prepared.columns()).find(({ name }) => name === prepared.mark)?.metadata?.[key];
}
