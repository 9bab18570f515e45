/** How far the preparation of a column is, from the table alone, so that any machine can tell. */
import type { PrepareColumnAction } from "../../actions/model/action.ts";
import { preparedMark, preparedName } from "../../actions/rewrite/prepared-columns.ts";
import { hasFailed, isPending } from "../../actions/rewrite/source-marks.ts";
import { sameType } from "../../schema/data-type.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import type { Target } from "../../targets/contract/target.ts";
import { stagingsOf } from "./staging-name.ts";

/** Milliseconds after which a process that has written nothing is taken for dead. */
const stillActive = 120_000;

export interface PreparedProgress {
  /** How many rows the step computes in all. */
  readonly rows: number;
  /** How many of them have a value of their present sources, or one that waits to be merged. */
  readonly computed: number;
  /** For how many the code failed. */
  readonly failed: number;
  /** How many rows are computed per second now; undefined if it is unknown. */
  readonly perSecond: number | undefined;
}

/** Undefined if the target can't count rows, or if there is no such table. */
export async function preparedProgress(
  action: PrepareColumnAction,
  target: Target,
  ledger: string,
): Promise<PreparedProgress | undefined> {
  const { count, rows } = target;
  const { table, where } = action;
  const columns = await rows?.columns(table);
  if (count === undefined || columns === undefined) return undefined;
  const column = parsePath(action.path)[0]!;
  const [next, mark] = [preparedName(column), preparedMark(column)];
  const all = await count(table, where);
  const found = columns.find(({ name }) => name === next);
  const isKept = found !== undefined && sameType(found.type, action.type) && columns.some(({ name }) => name === mark);
  if (!isKept) return { rows: all, computed: 0, failed: 0, perSecond: undefined };
  const filling = { ...action, mark };
  const both = (predicate: string) => (where === undefined ? predicate : `(${predicate}) and (${where})`);
  const pending = await count(table, both(isPending(filling, next)));
  const path = formatPath([next]);
  const names = stagingsOf(await target.listTables(), ledger, { table, path });
  const staged = await Promise.all(names.map(async (name) => await stagedIn(name, target)));
  const waiting = staged.reduce((sum, one) => sum + one.rows, 0);
  const speeds = staged.flatMap(({ perSecond = [] }) => perSecond);
  return {
    rows: all,
    computed: all - Math.max(0, pending - waiting),
    failed: await count(table, both(hasFailed(filling))),
    perSecond: speeds.length === 0 ? undefined : speeds.reduce((sum, one) => sum + one),
  };
}

/** What a staging table holds. Each of its versions is a call. A table that has just been merged has nothing. */
async function stagedIn(
  name: string,
  { count, versions }: Target,
): Promise<{ readonly rows: number; readonly perSecond?: number }> {
  try {
    const rows = await count!(name);
    const times = (await versions?.list(name))?.flatMap(({ at = [] }) => at) ?? [];
    const seconds = (Math.max(...times) - Math.min(...times)) / 1_000;
    // That of a process that was killed is not computed any more.
    const isActive = Date.now() - Math.max(...times) < stillActive;
    return { rows, ...(seconds > 0 && isActive && { perSecond: rows / seconds }) };
  } catch {
    return { rows: 0 };
  }
}
