/** What can be told of a plan only by asking its target: calls as they will be, what they cost, and rows that are at risk. */
import { tablesOfAction, writtenBy, type Action } from "../schema/action.ts";
import type { Tables } from "../schema/table.ts";
import { planCommits, type PlannedCommit } from "../plan/commits.ts";
import {
  costOf,
  inTurn,
  nothing,
  sizesAfter,
  type ActionEstimate,
  type Cost,
  type Size,
  type Sizes,
  type Survey,
} from "../plan/cost.ts";
import type { Costs } from "../plan/recovery.ts";
import { askAfter } from "../plan/obstacles.ts";
import type { Plan, PlannedAction } from "../plan/plan.ts";
import type { ActionRollback } from "../plan/rollback-class.ts";
import type { Target } from "../targets/target.ts";

/** Asks for the size of every table that is written to, and for the rows of every risk. Throws what reaching the target throws. */
export async function survey({ now, migrations }: Plan, target: Target): Promise<Survey> {
  const planned = migrations.flatMap(({ actions }) => actions);
  let sizes = await sizesNow(planned, [...now.keys()], target);
  const found = new Map<PlannedAction, ActionEstimate>();
  const before: Action[] = [];
  for (const one of planned) {
    const { action, commits, risks, rollback, after } = one;
    const rows: (number | undefined)[] = [];
    for (const { obstacle } of risks)
      rows.push(
        obstacle === undefined || obstacle.kind === "since"
          ? undefined
          : await countOf(target, askAfter(obstacle, before, now)),
      );
    const where = await rowsOfUpdate(action, before, target);
    const forth = { calls: await callsOf(commits, target), cost: costOf(commits, sizes, where) };
    sizes = sizesAfter(sizes, action);
    const commitsThere = rollback && commitsBack(rollback, after, target);
    const back = commitsThere && {
      calls: await callsOf(commitsThere, target),
      cost: costBack(commitsThere, sizes),
    };
    found.set(one, { ...forth, rows, back });
    before.push(action);
  }
  return found;
}

/** The same without what has to be asked of each call and each row. */
export async function costs({ now, migrations }: Plan, target: Target): Promise<Costs> {
  const planned = migrations.flatMap(({ actions }) => actions);
  let sizes = await sizesNow(planned, [...now.keys()], target);
  return new Map(
    planned.map((one) => {
      const cost = costOf(one.commits, sizes);
      sizes = sizesAfter(sizes, one.action);
      const { rollback, after } = one;
      const back = rollback && commitsBack(rollback, after, target);
      return [one, { cost, back: back && { cost: costBack(back, sizes) } }];
    }),
  );
}

async function callsOf(
  commits: readonly Pick<PlannedCommit, "action" | "before">[],
  { call }: Target,
): Promise<readonly string[]> {
  const calls: string[] = [];
  for (const { action, before } of commits) calls.push(await call(action, before.get(action.table)));
  return calls;
}

/** Undefined where nothing takes it back, or it goes with the whole table; none where an old version is restored. */
function commitsBack(
  { class: is, actions }: ActionRollback,
  after: Tables,
  target: Target,
): readonly PlannedCommit[] | undefined {
  if (is === "restore") return [];
  return actions.length === 0 ? undefined : commitsOf(actions, after, target);
}

/** Which version is restored nobody knows before the migration runs. */
function costBack(back: readonly PlannedCommit[], sizes: Sizes): Cost {
  return back.length === 0 ? { ...nothing, versions: 1 } : costOf(back, sizes);
}

function commitsOf(actions: readonly Action[], tables: Tables, { capabilities }: Target): readonly PlannedCommit[] {
  return inTurn(actions, tables).flatMap(({ action, before }) =>
    planCommits(action, new Map(tablesOfAction(action).map((name) => [name, before.get(name)])), capabilities),
  );
}

async function sizesNow(planned: readonly PlannedAction[], known: readonly string[], { size }: Target): Promise<Sizes> {
  const sizes = new Map<string, Size>();
  const unknown: Size = { rows: undefined, bytes: undefined };
  const touched = new Set(planned.flatMap(({ before }) => [...before.keys()]));
  const isWritten = planned.some(
    ({ commits, rollback }) =>
      commits.some(({ action, before }) => writtenBy(action, before.get(action.table)) !== undefined) ||
      rollback?.class === "checked",
  );
  for (const table of known)
    if (touched.has(table))
      sizes.set(table, size === undefined || !isWritten ? unknown : { bytes: undefined, ...(await size(table)) });
  return sizes;
}

/** The rows of an update of some, where its condition can be asked of the table as it is now. */
async function rowsOfUpdate(action: Action, before: readonly Action[], target: Target): Promise<number | undefined> {
  if (action.kind !== "updateRows" || action.where === undefined) return undefined;
  const isAsNow = before.every((one) => !tablesOfAction(one).includes(action.table));
  return isAsNow ? await countOf(target, { table: action.table, predicate: action.where }) : undefined;
}

async function countOf(
  { count }: Target,
  ask: { readonly table: string; readonly predicate: string | undefined } | undefined,
): Promise<number | undefined> {
  if (count === undefined || ask === undefined) return undefined;
  try {
    return await count(ask.table, ask.predicate);
  } catch {
    // What can't be asked is not known: a column may have another name by now, or a service has no such question.
    return undefined;
  }
}
