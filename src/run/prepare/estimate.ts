/** Estimates that need the target: the calls of a plan, what they cost, and how many rows are at risk. */
import type { Action } from "../../actions/model/action.ts";
import { writtenBy } from "../../actions/apply-action.ts";
import { databaseOf, type Database, type Tables } from "../../schema/table.ts";
import { replay } from "../../plan/compile/replay.ts";
import { planCommits, type PlannedCommit } from "../../plan/commits/commits.ts";
import {
  carrySizes,
  costOf,
  nothing,
  type ActionEstimate,
  type Cost,
  type Size,
  type Sizes,
  type Survey,
  type Widths,
} from "../../plan/assess/cost.ts";
import { computedIn, rowsOfCondition } from "../../plan/assess/rows-to-compute.ts";
import { countLost } from "../check/count-lost.ts";
import { reinsertKey } from "../../plan/assess/blocking-rows.ts";
import { isWrittenBefore } from "../../plan/assess/known-failures.ts";
import { bareBefore, isBare } from "../../plan/compile/vector-index-check.ts";
import type { ColumnRef } from "../../actions/model/action-model.ts";
import type { Blocker } from "../../actions/model/inverse.ts";
import { askAfter } from "../../plan/assess/row-questions.ts";
import { callsLeft, type GroupedPlan } from "../../plan/group/group-migrations.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import type { ActionRollback } from "../../plan/rollback/rollback-class.ts";
import { writtenValues, type WrittenValue } from "../../plan/assess/written-values.ts";
import type { Target } from "../../targets/contract/target.ts";
import { computingOf, type MigratorOptions } from "../run-context.ts";

type Asked = Pick<MigratorOptions, "computing" | "target">;

/** Queries the size of every table that the plan writes to, and the rows that each risk and condition concerns. */
export async function survey(plan: GroupedPlan, context: Asked): Promise<Survey> {
  const { now, groups = [] } = plan;
  const { target } = context;
  const known = await costs(plan, context);
  const lost = await countLost(plan, target);
  const found = new Map<PlannedAction, ActionEstimate>();
  const before: Action[] = [];
  const planned = plan.migrations.flatMap(({ actions }) => actions);
  const bare = bareBefore(planned.map(({ action }) => action));
  for (const [at, one] of planned.entries()) {
    const { action, commits, risks, rollback, after } = one;
    const rows: (number | undefined)[] = [];
    for (const { kind, blocker, isCounted } of risks)
      if (isCounted) rows.push(lost.get(one));
      else if (blocker?.kind === "vectors") rows.push(await vectorsBefore(blocker, bare[at]!, before, now, target));
      else if (blocker?.kind === "key") rows.push(known.get(one)!.cost.computed?.rows ?? undefined);
      else if (blocker !== undefined && blocker.kind !== "since") {
        const ask = askAfter(blocker, before, now);
        // If an earlier step writes the column, the rows of now may be no problem then.
        const isOpen = kind === "failure" && ask !== undefined && isWrittenBefore(ask, before, false);
        rows.push(isOpen ? undefined : await countOf(target, ask));
      } else rows.push(kind === "loss" ? await countCondition(action, before, now, target) : undefined);
    const { cost, back } = known.get(one)!;
    const calls = await callsOf(commits, target);
    const callsBack = back && (await callsOf(commitsBack(rollback!, after, target)!, target));
    found.set(one, { calls, cost, rows, back: back && { calls: callsBack!, cost: back.cost } });
    before.push(action);
  }
  for (const call of groups.flatMap(callsLeft)) {
    // It writes no rows, so what it costs does not depend on sizes.
    const cost = costOf(call.commits, new Map(), new Map());
    found.set(call, { calls: await callsOf(call.commits, target), cost, rows: [], back: undefined });
  }
  return found;
}

/** In how many rows there are vectors when an index on them is trained; undefined if that is unknown. */
async function vectorsBefore(
  blocker: Extract<Blocker, { readonly kind: "vectors" }>,
  bare: readonly ColumnRef[],
  before: readonly Action[],
  now: Database,
  target: Target,
): Promise<number | undefined> {
  const { table, path, least } = blocker;
  if (isBare(bare, table, path)) return 0;
  const ask = askAfter(blocker, before, now);
  return ask === undefined || isWrittenBefore(ask, before, true) ? undefined : await countOf(target, ask, least);
}

type Costs = ReadonlyMap<
  PlannedAction,
  Pick<ActionEstimate, "cost"> & { readonly back: { readonly cost: Cost } | undefined }
>;

/** What the actions cost. */
export async function costs({ now, migrations, reinserted }: Plan, context: Asked): Promise<Costs> {
  const { target } = context;
  const { countRows } = await computingOf(context);
  const planned = migrations.flatMap(({ actions }) => actions);
  const sizes = await sizesNow(planned, [...now.keys()], target);
  const sample = sampling(now, new Map(sizes), target);
  const found = new Map<PlannedAction, { readonly cost: Cost; readonly back: { readonly cost: Cost } | undefined }>();
  const before: Action[] = [];
  for (const one of planned) {
    const { action, commits, rollback, after } = one;
    const where =
      action.kind === "putBackRows"
        ? reinserted?.get(reinsertKey(action.table, action.version))
        : action.kind === "populateTable" || computedIn(commits) !== undefined
          ? await countRows(one, before, { now, target, all: sizes.get(action.table)?.rows })
          : await countCondition(action, before, now, target);
    const cost = costOf(commits, sizes, await sample(commits, before), where);
    carrySizes(sizes, action);
    before.push(action);
    const back = rollback && commitsBack(rollback, after, target);
    found.set(one, { cost, back: back && { cost: costBack(back, sizes, await sample(back, before)) } });
  }
  return found;
}

async function callsOf(
  commits: readonly Pick<PlannedCommit, "action" | "before">[],
  { call }: Target,
): Promise<string[]> {
  const calls: string[] = [];
  for (const { action, before } of commits) calls.push(await call(action, before.get(action.table)));
  return calls;
}

/** Undefined if nothing undoes the action, or if dropping the whole table does; empty if an old version is restored. */
function commitsBack(
  { class: is, actions }: ActionRollback,
  after: Tables,
  target: Target,
): readonly PlannedCommit[] | undefined {
  if (is === "restore") return [];
  return actions.length === 0 ? undefined : commitsOf(actions, after, target);
}

/** If `back` is empty, an old version is restored. Which one is unknown before the migration runs. */
function costBack(back: readonly PlannedCommit[], sizes: Sizes, widths: Widths): Cost {
  return back.length === 0 ? { ...nothing, versions: 1 } : costOf(back, sizes, widths);
}

/** Samples in the current tables how long the values are that commits write. Samples no value twice. */
export function sampling(now: Tables, sizes: Sizes, { widths }: Pick<Target, "widths">) {
  const known = new Map<string, number | undefined>();
  const keyOf = ({ table, sql }: WrittenValue) => `${table} ${sql}`;
  return async (
    commits: readonly Pick<PlannedCommit, "action" | "before">[],
    before: readonly Action[],
  ): Promise<Widths> => {
    const values = writtenValues(commits, before, databaseOf(now));
    for (const table of new Set(values.map((one) => one.table))) {
      const asked = values.filter((one) => one.table === table && !known.has(keyOf(one)));
      const rows = sizes.get(table)?.rows ?? 0;
      if (asked.length === 0 || rows === 0 || widths === undefined) continue;
      const expressions = asked.map(({ sql }) => sql);
      // A value that can't be queried is unknown: a service may lack the function.
      const found = await widths(table, expressions, rows).catch(() => undefined);
      for (const [index, one] of asked.entries()) known.set(keyOf(one), found?.[index]);
    }
    const widthsNow = values.map((one) => [one.column, known.get(keyOf(one))] as const);
    return new Map(widthsNow.flatMap(([column, width]) => (width === undefined ? [] : [[column, width] as const])));
  };
}

function commitsOf(actions: readonly Action[], tables: Tables, { capabilities }: Target): readonly PlannedCommit[] {
  const bare = actions.map((action) => ({ action }));
  return replay(databaseOf(tables), bare, ({ action }, before) => planCommits(action, before, capabilities)).flat();
}

async function sizesNow(
  planned: readonly PlannedAction[],
  known: readonly string[],
  { tableSize }: Target,
): Promise<Map<string, Size>> {
  const sizes = new Map<string, Size>();
  const unknown: Size = { rows: undefined };
  const touched = new Set(planned.flatMap(({ before }) => [...before.keys()]));
  const isWritten = planned.some(
    ({ commits, rollback }) =>
      commits.some(({ action, before }) => writtenBy(action, before.get(action.table)) !== undefined) ||
      rollback?.class === "checked",
  );
  for (const table of known)
    if (touched.has(table))
      sizes.set(table, tableSize === undefined || !isWritten ? unknown : await sizeOf(table, tableSize));
  return sizes;
}

/** An unknown size does not prevent planning. */
async function sizeOf(table: string, size: NonNullable<Target["tableSize"]>): Promise<Size> {
  try {
    return await size(table);
  } catch {
    return { rows: undefined };
  }
}

/** How many rows an update or a deletion concerns, if its condition can be evaluated on the current table. */
async function countCondition(
  action: Action,
  before: readonly Action[],
  now: Database,
  target: Target,
): Promise<number | undefined> {
  if (action.kind !== "updateRows" && action.kind !== "deleteRows") return undefined;
  const rows = rowsOfCondition(action, before, now);
  return rows && (await countOf(target, { table: rows.table, predicate: rows.where }));
}

async function countOf(
  { countRows }: Target,
  ask: { readonly table: string; readonly predicate: string | undefined } | undefined,
  most?: number,
): Promise<number | undefined> {
  if (countRows === undefined || ask === undefined) return undefined;
  try {
    return await countRows(ask.table, ask.predicate, undefined, most);
  } catch {
    // What can't be queried is unknown: a column may have another name now, or a service may lack the query.
    return undefined;
  }
}
