/** How far the preparation of a column is, from the table alone, so that any machine can tell. */
import type { PrepareColumnAction } from "../../../actions/model/action.ts";
import { preparedMark, preparedName } from "../../../actions/rewrite/prepared-columns.ts";
import { isPending } from "../../../actions/rewrite/source-marks.ts";
import { hasFailed } from "../calls/mark-conditions.ts";
import { sameType } from "../../../schema/data-type.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { fragmentsBefore } from "../compute/results.ts";
import type { Shard } from "../compute/shard.ts";
import { partsOf, resultsName, resultsOf, stagingsOf } from "../compute/staging-name.ts";
import type { PreparedProgress } from "../../../run/computed.ts";

/** Milliseconds after which a process that has written nothing is taken for dead. */
const stillActive = 30_000;

interface ProgressOptions {
  /** Which shard has just ended. */
  readonly shard?: Shard | undefined;
  /** Since when rows are computed, in milliseconds since 1970: what was computed before does not count for the rate. */
  readonly since?: number | undefined;
}

/** Undefined if the target can't count rows, or if there is no such table. */
export async function preparedProgress(
  action: PrepareColumnAction,
  target: Target,
  ledger: string,
  { shard, since = 0 }: ProgressOptions = {},
): Promise<PreparedProgress | undefined> {
  const { countRows, rows } = target;
  const { table, where } = action;
  const columns = await rows?.columns(table);
  if (countRows === undefined || columns === undefined) return undefined;
  const column = parsePath(action.path)[0]!;
  const [next, mark] = [preparedName(column), preparedMark(column)];
  const all = await countRows(table, where);
  const found = columns.find(({ name }) => name === next);
  const isKept = found !== undefined && sameType(found.type, action.type) && columns.some(({ name }) => name === mark);
  // Only runs that prepare it write to the column, so that its values need not be read.
  const filling = { ...action, mark, overwrite: true };
  const both = (predicate: string) => (where === undefined ? predicate : `(${predicate}) and (${where})`);
  const pending = isKept ? await countRows(table, both(isPending(filling, next))) : all;
  const hidden = { table, path: formatPath([next]) };
  const tables = await target.listTables();
  const own = partsOf(tables, resultsName(ledger, hidden, shard)).parts;
  const lookInto = async (names: readonly string[]) =>
    await Promise.all(
      names.map(async (name) => {
        // To find failures, the marks are read, which each shard would do for all others.
        const isOther = shard !== undefined && !own.includes(name);
        return await waitingIn(name, target, since, isOther ? undefined : hasFailed(filling));
      }),
    );
  const usable: string[] = [];
  for (const name of resultsOf(tables, hidden))
    if ((await fragmentsBefore(name, [{ name: next, type: action.type }], action, target.rows!)) !== undefined)
      usable.push(name);
  const results = await lookInto(usable);
  const staged = await lookInto(stagingsOf(tables, ledger, hidden));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  // What is computed beside the table is appended to the results, and what is computed in it is staged.
  const speeds = [results, staged].map((some) => some.flatMap(({ perSecond = [] }) => perSecond));
  const rates = speeds.find((some) => some.length > 0);
  const waiting = [...results, ...staged];
  return {
    rows: all,
    computed: all - Math.max(0, pending - sum(waiting.map((one) => one.rows))),
    failed: (isKept ? await countRows(table, both(hasFailed(filling))) : 0) + sum(results.map((one) => one.failed)),
    perSecond: rates && sum(rates),
  };
}

interface WaitingRowCounts {
  readonly rows: number;
  readonly failed: number;
  readonly perSecond?: number;
}

/** What a table of computed values holds. Each of its versions is one append. A table that has just been merged has nothing. */
async function waitingIn(
  name: string,
  { countRows, versions }: Target,
  since: number,
  failed: string | undefined,
): Promise<WaitingRowCounts> {
  try {
    const rows = await countRows!(name);
    const all = (await versions?.list(name))?.flatMap(({ at = [] }) => at) ?? [];
    const times = all.filter((at) => at >= since);
    const seconds = (Math.max(...times) - Math.min(...times)) / 1_000;
    // The first append is of rows that were computed before its time.
    const appended = (rows * (times.length - 1)) / all.length;
    // That of a process that was killed is not computed any more.
    const isActive = Date.now() - Math.max(...times) < stillActive;
    return {
      rows,
      failed: failed === undefined ? 0 : await countRows!(name, failed),
      ...(seconds >= 1 && isActive && { perSecond: appended / seconds }),
    };
  } catch {
    return { rows: 0, failed: 0 };
  }
}
