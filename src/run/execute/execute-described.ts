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
  sendAction,
  type ActionContext,
  type Done,
  type ActionResult,
  type CallResult,
  type Failure,
} from "./send-action.ts";
import { mayBeHedged, sendHedged } from "./hedged-send.ts";
import { describeTables, tablesInSnapshots, type Snapshots } from "../check/snapshots.ts";
import { isAnother, versionIn } from "../check/foreign-changes.ts";
import { requireReadable } from "../check/check-readable.ts";
import { madeByOthers } from "../check/made-by-others.ts";
import { reapplyForeignSettings, type RestoredTable } from "./reapply-foreign-settings.ts";

export async function executeDescribed(
  planned: PlannedAction,
  mayBeDone: boolean,
  context: ActionContext,
): Promise<ActionResult> {
  const action = new DescribedAction(planned, mayBeDone, context);
  const again = nextTry(planned, context);
  for (;;) {
    const seen = await action.look();
    const early = await action.endingBefore(seen);
    if (early !== undefined) return early;
    // Nothing is awaited from here to the call. A run that was suspended until it may have a successor describes the
    // tables again.
    if (!context.lease.isSure()) continue;
    const called = await action.send(seen);
    const ending = await action.endingAfter(called, seen);
    if (ending !== undefined) return ending;
    if (!(await again(action.failure!))) return action.givenUp(called, seen);
  }
}

/** One action, with what its calls have shown so far. */
class DescribedAction {
  readonly #planned: PlannedAction;
  readonly #context: ActionContext;
  readonly #withIndexes: boolean;
  /** Whether a call may have done it, of this run or of one that was stopped. */
  #inDoubt: boolean;
  #wasUnanswered = false;
  /** Snapshots that the caller has just taken; used once. */
  #given: Snapshots | undefined;
  /** The table when it was first seen as it should be. */
  #first: TableSnapshot | undefined;
  /** The snapshots after the last call. */
  #found: Snapshots = new Map();
  /** That of the last call. */
  failure: Failure | undefined;

  constructor(planned: PlannedAction, mayBeDone: boolean, context: ActionContext) {
    const { action, before, after } = planned;
    this.#planned = planned;
    this.#context = context;
    this.#inDoubt = mayBeDone;
    this.#given = context.snapshots;
    this.#withIndexes =
      context.withIndexes ??
      (action.kind === "restoreTable" ||
        [...before.values(), ...after.values()].some((table) => table?.indexes !== undefined));
  }

  async look(): Promise<Snapshots> {
    const { lease } = this.#context;
    const given = this.#given;
    this.#given = undefined;
    if (given !== undefined && lease.isSure()) return given;
    const snapshots = await this.#describe();
    // Checked after the description: a run that was suspended in between must not act on its successor's tables.
    await lease.check();
    return snapshots;
  }

  /** If the action is done already, or must not be tried on these tables. */
  async endingBefore(snapshots: Snapshots): Promise<ActionResult | undefined> {
    const { target, bound, mayAct } = this.#context;
    const { action, before } = this.#planned;
    const inDoubt = this.#inDoubt;
    const tables = tablesInSnapshots(snapshots);
    const seen = snapshots.get(action.table);
    if (inDoubt && this.#isDoneIn(tables)) {
      const done = { versionBefore: undefined, versionAfter: versionIn(seen), found: snapshots };
      return (
        (await this.#endingIfMadeByOthers()) ??
        (await this.#ended({ ...done, harm: await this.#harmIn(snapshots) }, { seen: this.#first }))
      );
    }
    if (!sameTables(before, tables)) return { error: changed(this.#planned, snapshots), inDoubt };
    this.#first ??= seen;
    for (const one of [bound, this.#first])
      if (await isAnother(action.table, one, seen, target)) return { error: recreated(this.#planned), inDoubt };
    if (mayAct?.(tables, seen?.version) !== false) return undefined;
    return { error: changed(this.#planned, snapshots), inDoubt, isUnsent: true };
  }

  /** Returns undefined if the call may not be sent again. Nothing is awaited before the call. */
  async send(snapshots: Snapshots): Promise<CallResult | undefined> {
    const { action } = this.#planned;
    const context = this.#context;
    if (!maySend(this.#planned, this.failure, context.target)) return undefined;
    const mayBeDone = this.#inDoubt && action.kind === "putBackRows";
    const sent = mayBeDone ? { ...action, mayBeDone } : onlyCommit(this.#planned);
    const seen = snapshots.get(action.table);
    const called = mayBeHedged(sent, context.target)
      ? await sendHedged(sent, seen, context, () => this.#stillThere())
      : await sendAction(sent, seen, context);
    this.failure = called.failure;
    return called;
  }

  /**
   * If no other call can change anything. The tables show what happened, whatever the answer was, or if there was none.
   * If only rows changed, the answer shows it.
   */
  async endingAfter(called: CallResult | undefined, snapshots: Snapshots): Promise<ActionResult | undefined> {
    const { target, lease } = this.#context;
    const { action, before, after } = this.#planned;
    if (called === undefined && changesRows(action)) return { error: this.failure!.error, inDoubt: this.#inDoubt };
    const found = await this.#describe();
    this.#found = found;
    const { failure } = this;
    if (failure === undefined ? sameTables(after, tablesInSnapshots(found)) : this.#isDoneIn(tablesInSnapshots(found)))
      return (
        (failure && (await this.#endingIfMadeByOthers())) ??
        (await this.#endedAfter(called, snapshots.get(action.table)))
      );
    // The tables are not as they should be. If this process was suspended, the next holder may have done that.
    await lease.check();
    this.failure ??= unexpected(this.#planned, found, target);
    this.#wasUnanswered ||= this.failure.kind === "unanswered";
    // A call that puts rows back may fail after it has done so.
    this.#inDoubt ||= this.#wasUnanswered || action.kind === "putBackRows";
    if (sameTables(before, tablesInSnapshots(found))) return undefined;
    return { error: this.failure.error, inDoubt: this.#inDoubt || failure === undefined };
  }

  givenUp(called: CallResult | undefined, snapshots: Snapshots): ActionResult {
    const { table } = this.#planned.action;
    const { kind, error } = this.failure!;
    const commits = called?.commits;
    const versions = {
      versionBefore: versionIn(snapshots.get(table)),
      versionAfter: versionIn(this.#found.get(table)),
    };
    // A call that may still be under way could take effect in the middle of a detour.
    const starved = kind === "conflict" && !this.#wasUnanswered;
    return {
      error,
      inDoubt: this.#inDoubt,
      starved,
      part: commits === undefined ? undefined : { ...versions, commits },
    };
  }

  async #describe(): Promise<Snapshots> {
    return await describeTables(this.#planned.before.keys(), this.#context.target, this.#withIndexes);
  }

  /** Restoring a version may also change columns or indexes. Then the table shows whether it was done. */
  #isDoneIn(tables: Tables): boolean {
    const { action, before, after } = this.#planned;
    return sameTables(after, tables) && (!changesRows(action) || !sameTables(before, tables));
  }

  /** The table, if the call may be sent once more beside the one that is under way. */
  async #stillThere(): Promise<TableSnapshot | undefined> {
    const { target, lease, mayAct } = this.#context;
    const { action, before } = this.#planned;
    const snapshots = await this.#describe();
    const found = tablesInSnapshots(snapshots);
    const seen = snapshots.get(action.table);
    const isStill = sameTables(before, found) && !(await isAnother(action.table, this.#first, seen, target));
    return isStill && mayAct?.(found, seen?.version) !== false && lease.isSure() ? seen : undefined;
  }

  /** The ending if a table looks as it should because of another program; undefined otherwise. */
  async #endingIfMadeByOthers(): Promise<ActionResult | undefined> {
    const { target, lease, place } = this.#context;
    const isRefused = !this.#inDoubt && this.failure?.kind !== "unanswered";
    const problem = await madeByOthers(this.#planned.action, isRefused ? "refused" : "unknown", target, place);
    if (problem === undefined) return undefined;
    // If this process was suspended, the next holder may have done it.
    await lease.check();
    return { error: new Error(problem), inDoubt: true };
  }

  async #harmIn(snapshots: Snapshots): Promise<string | undefined> {
    const { action, after } = this.#planned;
    await requireSame(action, this.#first, this.#context);
    await requireReadable(this.#planned, this.#context);
    const now = snapshots.get(action.table);
    return (await lostUnanswered(action, this.#first, now, after.get(action.table), this.#context))?.problem;
  }

  async #endedAfter(called: CallResult | undefined, seen: TableSnapshot | undefined): Promise<Done> {
    const { failure } = this;
    const { action } = this.#planned;
    const done = {
      versionBefore: versionIn(seen),
      versionAfter: versionIn(this.#found.get(action.table)),
      found: this.#found,
      commits: called?.commits ?? commitsMade(action, seen?.version, called?.made, failure),
      harm: failure === undefined ? called?.harm : await this.#harmIn(this.#found),
    };
    return await this.#ended(done, { seen, made: this.#inDoubt ? undefined : called?.made });
  }

  /** Ends an action that is done, after putting back what others had given a table that it has restored. */
  async #ended(done: Done, call: RestoredTable): Promise<Done> {
    const { commits, harm = done.harm } = await reapplyForeignSettings(this.#planned, call, this.#context);
    if (commits === 0) return { ...done, harm };
    const found = await this.#describe();
    const all = done.commits === undefined ? undefined : done.commits + commits;
    return { ...done, versionAfter: versionIn(found.get(this.#planned.action.table)), found, commits: all, harm };
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
  const mayCome = !capabilities.fences && sameTables(before, tablesInSnapshots(found));
  return { kind: mayCome ? "unanswered" : "refused", error };
}
