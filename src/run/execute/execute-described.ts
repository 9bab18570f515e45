/**
 * Executes one action on a target that describes its tables. They are described before the call, and after it whatever
 * the answer was.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import { swapsNames } from "../../plan/compile/undescribed.ts";
import type { Action, ActionKind } from "../../actions/model/action.ts";
import { changesRows } from "../../actions/apply-action.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import { differences, sameTables, type Tables } from "../../schema/table.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import { lostUnanswered } from "./side-effects.ts";
import {
  nextTry,
  requireSame,
  type ActionContext,
  type Done,
  type ActionResult,
  type Failure,
  type Snapshots,
} from "./send-action.ts";
import { sendHedged } from "./hedged-send.ts";
import { isAnother, versionIn } from "../check/table-identity.ts";
import { requireReadable } from "../check/check-readable.ts";
import { lookAlike } from "../check/look-alike.ts";
import { reapplyChangesByOthers, type RestoredTable } from "./reapply-changes-by-others.ts";

export async function executeDescribed(
  planned: PlannedAction,
  mayBeDone: boolean,
  context: ActionContext,
): Promise<ActionResult> {
  const { target, lease, mayAct, place } = context;
  const { action, before, after } = planned;
  const hasTrace = !changesRows(action);
  // Restoring a version may also change columns or indexes. Then the table shows whether it was done.
  const isDoneIn = (tables: Tables) => sameTables(after, tables) && (hasTrace || !sameTables(before, tables));
  const withIndexes =
    context.withIndexes ??
    (action.kind === "restoreTable" ||
      [...before.values(), ...after.values()].some((table) => table?.indexes !== undefined));
  const again = nextTry(planned, context);
  let inDoubt = mayBeDone;
  let wasUnanswered = false;
  let failure: Failure | undefined;
  let given = context.snapshots;
  let first: TableSnapshot | undefined;
  const stillThere = async () => {
    const snapshots = await describeTables(before.keys(), target, withIndexes);
    const found = tablesOf(snapshots);
    const seen = snapshots.get(action.table);
    const isStill = sameTables(before, found) && !(await isAnother(action.table, first, seen, target));
    return isStill && mayAct?.(found, seen?.version) !== false && lease.isSure() ? seen : undefined;
  };
  /** The ending if a table looks as it should because of another program; undefined otherwise. */
  const foreign = async (): Promise<ActionResult | undefined> => {
    const isRefused = !inDoubt && failure?.kind !== "unanswered";
    const problem = await lookAlike(action, isRefused ? "refused" : "unknown", target, place);
    if (problem === undefined) return undefined;
    // If this process was suspended, the next holder may have done it.
    await lease.check();
    return { error: new Error(problem), inDoubt: true };
  };
  const harmOf = async (snapshots: Snapshots) => {
    await requireSame(action, first, context);
    await requireReadable(planned, context);
    return (await lostUnanswered(action, first, snapshots.get(action.table), after.get(action.table), context))
      ?.problem;
  };
  /** Ends an action that is done, after putting back what others had given a table that it has restored. */
  const ended = async (done: Done, call: RestoredTable): Promise<Done> => {
    const { commits, harm = done.harm } = await reapplyChangesByOthers(planned, call, context);
    if (commits === 0) return { ...done, harm };
    const found = await describeTables(before.keys(), target, withIndexes);
    const all = done.commits === undefined ? undefined : done.commits + commits;
    return { ...done, after: versionIn(found.get(action.table)), found, commits: all, harm };
  };
  for (;;) {
    const isGiven = given !== undefined && lease.isSure();
    const snapshots = isGiven ? given! : await describeTables(before.keys(), target, withIndexes);
    given = undefined;
    const seen = snapshots.get(action.table);
    // Checked after the description: a run that was suspended in between must not act on its successor's tables.
    if (!isGiven) await lease.check();
    if (inDoubt && isDoneIn(tablesOf(snapshots)))
      return (
        (await foreign()) ??
        (await ended(
          { before: undefined, after: versionIn(seen), found: snapshots, harm: await harmOf(snapshots) },
          { seen: first },
        ))
      );
    if (!sameTables(before, tablesOf(snapshots))) return { error: changed(planned, snapshots), inDoubt };
    first ??= seen;
    for (const one of [context.bound, first])
      if (await isAnother(action.table, one, seen, target)) return { error: recreated(planned), inDoubt };
    if (mayAct?.(tablesOf(snapshots), seen?.version) === false)
      return { error: changed(planned, snapshots), inDoubt, isUnsent: true };
    // Nothing is awaited from here to the call. A run that was suspended until it may have a successor describes them
    // again.
    if (!lease.isSure()) continue;
    const sends = maySend(planned, failure, target);
    const sent = inDoubt && action.kind === "putBackRows" ? { ...action, mayBeDone: true } : onlyCommit(planned);
    const called = sends ? await sendHedged(sent, seen, context, stillThere) : undefined;
    if (called !== undefined) failure = called.failure;
    else if (!hasTrace) return { error: failure!.error, inDoubt };
    // The tables show what happened, whatever the answer was, or if there was none. If only rows changed, the answer
    // shows it.
    const found = await describeTables(before.keys(), target, withIndexes);
    if (failure === undefined ? sameTables(after, tablesOf(found)) : isDoneIn(tablesOf(found)))
      return (
        (failure && (await foreign())) ??
        (await ended(
          {
            before: versionIn(seen),
            after: versionIn(found.get(action.table)),
            found,
            commits: called?.commits ?? commitsMade(action, seen?.version, called?.made, failure),
            harm: failure === undefined ? called?.harm : await harmOf(found),
          },
          { seen, made: inDoubt ? undefined : called?.made },
        ))
      );
    // The tables are not as they should be. If this process was suspended, the next holder may have done that.
    await lease.check();
    const wasDone = failure === undefined;
    failure ??= unexpected(planned, found, target);
    wasUnanswered ||= failure.kind === "unanswered";
    inDoubt ||= wasUnanswered;
    // It may fail after it has put the rows back.
    inDoubt ||= action.kind === "putBackRows";
    if (!sameTables(before, tablesOf(found))) return { error: failure.error, inDoubt: inDoubt || wasDone };
    if (!(await again(failure))) {
      // A call that may still be under way could take effect in the middle of a detour.
      const starved = failure.kind === "conflict" && !wasUnanswered;
      const commits = called?.commits;
      const part =
        commits === undefined
          ? undefined
          : { before: versionIn(seen), after: versionIn(found.get(action.table)), commits };
      return { error: failure.error, inDoubt, starved, part };
    }
  }
}

/**
 * Whether the call may be sent again. A call without an answer may still be under way, and a service would execute
 * both. For most actions that is harmless: the second call is refused or changes nothing. But a second swap of names
 * would undo the first, so the run only looks for the effect of the first. Two inserts at once would both insert, so
 * the next run repeats the insert.
 */
function maySend({ action }: PlannedAction, failure: Failure | undefined, { capabilities }: Target): boolean {
  if (failure?.kind !== "unanswered" || capabilities.fences) return true;
  return !addsRows.has(action.kind) && !swapsNames(action);
}

/**
 * How many versions the call made. A call makes one, or two if it refreshes a column; none if there was nothing to
 * change. A call that was refused made none: the table was already as it should be, for example without an index that
 * was unknown.
 */
function commitsMade(
  { kind }: Action,
  before: number | undefined,
  made: number | undefined,
  failure: Failure | undefined,
): number {
  const isNothing = failure === undefined ? made !== undefined && made === before : failure.kind !== "unanswered";
  if (isNothing) return 0;
  return kind === "refreshColumn" ? 2 : 1;
}

/** What is sent: for an action whose only commit is a call of another kind, that call. */
function onlyCommit({ action, commits }: PlannedAction): Action {
  const [only, ...others] = commits;
  // Otherwise the action itself, which may be newer than its commits: a rollback learns late what it restores.
  return only === undefined || others.length > 0 || only.action.kind === action.kind ? action : only.action;
}

/** Actions that two calls at once would do twice. */
const addsRows: ReadonlySet<ActionKind> = new Set(["insertRows", "putBackRows"]);

export async function describeTables(
  names: Iterable<string>,
  target: Target,
  withIndexes: boolean,
): Promise<Snapshots> {
  const snapshots = new Map<string, TableSnapshot | undefined>();
  for (const name of names) snapshots.set(name, await target.describeTable(name, withIndexes));
  return snapshots;
}

export function tablesOf(snapshots: Snapshots): Tables {
  return new Map([...snapshots].map(([name, snapshot]) => [name, snapshot?.table]));
}

/** The first table that is not as it should be, and how it differs. */
function wrongIn(
  expected: Tables,
  snapshots: Snapshots,
): { readonly table: string; readonly differences: readonly string[] } {
  const found = [...expected].map(([table, should]) => ({
    table,
    differences: differences(should, snapshots.get(table)?.table),
  }));
  return found.find((one) => one.differences.length > 0) ?? found[0]!;
}

export function changed({ place, before }: PlannedAction, snapshots: Snapshots): MigrateError {
  return new MigrateError("ERR_TABLE_CHANGED", { ...place, ...wrongIn(before, snapshots) });
}

function recreated({ place, action: { table } }: PlannedAction): MigrateError {
  return new MigrateError("ERR_TABLE_CHANGED", { ...place, table, differences: ["it was dropped and recreated"] });
}

/** The failure of a call that succeeded with another result. A service may not show yet what it has done. */
function unexpected({ place, before, after }: PlannedAction, found: Snapshots, { capabilities }: Target): Failure {
  const error = new MigrateError("ERR_UNEXPECTED_RESULT", { ...place, ...wrongIn(after, found) });
  const mayCome = !capabilities.fences && sameTables(before, tablesOf(found));
  return { kind: mayCome ? "unanswered" : "refused", error };
}

/** Whether the tables are as after it. */
export async function isAfter({ after }: Pick<PlannedAction, "after">, target: Target): Promise<boolean> {
  return sameTables(after, tablesOf(await describeTables(after.keys(), target, true)));
}

/** How the tables differ now from those before, in words. */
export async function leftSince(before: Tables, target: Target): Promise<readonly string[]> {
  try {
    const tables = tablesOf(await describeTables(before.keys(), target, true));
    return [...before].flatMap(([name, table]) =>
      differences(table, tables.get(name)).map((words) => `${name}: ${words}`),
    );
  } catch (error) {
    return [`which part is unknown: ${target.explain(error)}`];
  }
}
