/**
 * Executes an action that takes several commits, on a target that describes its tables. Before the first commit, the
 * run records the step and what the action would lose. A run that resumes after a crash can then do the same and put
 * that back.
 */
import { isInterruption } from "../../errors/migrate-error.ts";
import type { Preserved, PartialAction } from "../../ledger/state/record.ts";
import { leadsBack, planCommit, type PlannedCommit } from "../../plan/commits/commits.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import {
  isAllLeft,
  stillToDo,
  toDropOnceMore,
  commitProgress,
  type CommitProgress,
} from "../../plan/commits/commit-progress.ts";
import { sameKept } from "../../plan/commits/preserved.ts";
import { changesRows, onlyReads, rewrites } from "../../actions/apply-action.ts";
import { isHidden } from "../../actions/rewrite/append-guard.ts";
import { madeName } from "../../schema/names.ts";
import { sameTables, type Tables } from "../../schema/table.ts";
import { mostRepeats } from "../../targets/contract/retry.ts";
import { describeTables, isAfter, leftSince, tablesInSnapshots, type Snapshots } from "../check/snapshots.ts";
import { executeDescribed, changed } from "./execute-described.ts";
import type { ActionContext, Done, ActionResult, FailedCall } from "./send-action.ts";
import { versionIn } from "../check/foreign-changes.ts";
import { madeByOthers } from "../check/made-by-others.ts";

/** What the ledger knows of the action, and how to record more. */
export interface PartialNotes {
  readonly midway: PartialAction | undefined;
  note(kept: Preserved, commit: number): Promise<void>;
}

/** Whether the action takes several commits, or may do so if the table has an index that is not known yet. */
export function mayTakeCommits({ action, commits }: PlannedAction): boolean {
  return commits.length > 1 || rewrites(action).size > 0;
}

/** An action of several commits under way. */
interface CommitRun {
  readonly planned: PlannedAction;
  readonly mayBeDone: boolean;
  readonly context: ActionContext & PartialNotes;
  /** The newest note of the action in the ledger: this run's own, unless it is `context.midway`. */
  recorded: Omit<PartialAction, "step"> | undefined;
  /** The number of commits up to the last one that changed rows alone. */
  passed: number;
  /** The table's versions around the commits; undefined until the table is described. */
  versions: Done | undefined;
  /** Whether the run that was taken over may have made the next commit, or may still make it. */
  isResumed: boolean;
  /** The snapshots after a commit, which serve the next one if nothing was awaited since. */
  seen: Snapshots | undefined;
  /** The table's version, while only this run has made versions since it computed the new values. */
  fresh: number | undefined;
  /** The text of the commit that lost to others' commits each time, so that its detour is taken. */
  detourAt: string | undefined;
  /** The commits that dropped indexes, and those that did so once more; an index that others recreate again stays. */
  readonly dropped: Set<string>;
  readonly droppedAgain: Set<string>;
  lookedAgain: number;
  refreshed: number;
}

/** The commit that is next, and the tables before it. */
interface Turn {
  readonly commit: PlannedCommit;
  readonly progress: CommitProgress;
  readonly snapshots: Snapshots;
  /** Whether the snapshots are those after the commit before, with nothing awaited since. */
  readonly isSeen: boolean;
}

export async function executeInCommits(
  planned: PlannedAction,
  mayBeDone: boolean,
  context: ActionContext & PartialNotes,
): Promise<ActionResult> {
  const run: CommitRun = {
    planned,
    mayBeDone,
    context,
    recorded: context.midway,
    passed: 0,
    versions: undefined,
    isResumed: mayBeDone,
    seen: undefined,
    fresh: undefined,
    detourAt: undefined,
    dropped: new Set(),
    droppedAgain: new Set(),
    lookedAgain: 0,
    refreshed: 0,
  };
  for (;;) {
    const turn = await nextTurn(run);
    if (!("commit" in turn)) return turn;
    const isRecorded = await recordBefore(run, turn);
    const sent = toSend(run, turn);
    const ending = await send(run, turn, sent, isRecorded);
    const end = "error" in ending ? await endAfter(run, turn, sent, ending) : endIfLast(run, turn, sent, ending);
    if (end !== undefined) return end;
  }
}

/** How the action ends, if no commit is left or the next one can't be made. */
async function nextTurn(run: CommitRun): Promise<Turn | ActionResult> {
  const { planned, mayBeDone, context, seen, isResumed } = run;
  const { target, lease } = context;
  const isSeen = seen !== undefined && lease.isSure();
  const snapshots = isSeen ? seen : await describeTables(planned.before.keys(), target, true);
  run.seen = undefined;
  if (!isSeen) await lease.check();
  const found = tablesInSnapshots(snapshots);
  const isFirst = run.versions === undefined;
  const version = versionIn(snapshots.get(planned.action.table));
  const versions = (run.versions ??= { versionBefore: version, versionAfter: version });
  const isBegun = mayBeDone || versions.commits !== undefined;
  const progress = isBegun || sameTables(planned.before, found) ? progressNow(run, found) : undefined;
  if (progress === undefined) return { error: changed(planned, snapshots), inDoubt: isBegun };
  const { problem: error } = progress;
  if (error !== undefined && isUntouched(progress)) return { error, inDoubt: isResumed };
  if (error !== undefined)
    return await rollBackCommits(stillToDo(progress, found)[0]!, { error, inDoubt: false }, planned, context);
  const foreign = isFirst && mayBeDone ? await foreignCommit(run, progress) : undefined;
  if (foreign !== undefined) return { error: new Error(foreign), inDoubt: true };
  const commit = nextOf(run, progress, found);
  return commit === undefined ? versions : { commit, progress, snapshots, isSeen };
}

function progressNow(run: CommitRun, tables: Tables): CommitProgress | undefined {
  const { planned, context, recorded, passed } = run;
  const noted = passed === 0 ? recorded : { ...recorded!, commit: Math.max(recorded!.commit ?? 0, passed) };
  return commitProgress(planned.action, planned.before, noted, tables, context.target.capabilities);
}

function isUntouched({ done, detour }: CommitProgress): boolean {
  return done + detour === 0;
}

/** Why another program seems to have made one of the commits that look done. */
async function foreignCommit(
  { context: { target, place, midway } }: CommitRun,
  { commits, done }: CommitProgress,
): Promise<string | undefined> {
  for (const { action } of commits.slice(0, done)) {
    const problem = await madeByOthers(action, midway === undefined ? "unknown" : "begun", target, place);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The next commit; undefined when all are done. */
function nextOf(run: CommitRun, progress: CommitProgress, found: Tables): PlannedCommit | undefined {
  const due = progress.commits[progress.done];
  const turn = due?.text === run.detourAt && progress.detour === 0 ? due?.detour[0] : undefined;
  if (turn !== undefined) return turn;
  const next = stillToDo(progress, found).find(({ text }) => !run.dropped.has(text));
  const again = toDropOnceMore(progress, found).find(({ text }) => !run.droppedAgain.has(text));
  if (next?.loses !== true || again === undefined) return next;
  run.droppedAgain.add(again.text);
  return again;
}

/** Records what a run that resumes at this commit must know. Returns whether the ledger was written. */
async function recordBefore(run: CommitRun, { commit, progress }: Turn): Promise<boolean> {
  const { recorded, context } = run;
  const { commits, done, kept } = progress;
  const at = commits.indexOf(commit);
  const isDetour = commit === commits[done]?.detour[0];
  // An earlier run's note is recorded again: a late record of that run, such as that it failed and left nothing
  // half-done, must not erase it.
  const isUnrecorded = recorded === undefined || recorded === context.midway || !sameKept(kept, recorded);
  const leads = at > (recorded?.commit ?? 0) && leadsBack(commits, at) && !onlyReads(commit.action);
  const isToRecord = leads || (isUnrecorded && (commits.length > 1 || isDetour));
  if (isToRecord) {
    // Before the loss, no commit leads back to an earlier state, so the table shows how far the action got.
    run.recorded = { ...kept, commit: leads ? at : (recorded?.commit ?? 0) };
    await context.note(kept, run.recorded.commit);
  }
  if (isDetour) context.emit({ event: "detour", ...context.place, text: commit.text });
  return isToRecord;
}

/** The commit itself, or the one that first computes the values again, as others have written to the table since. */
function toSend(run: CommitRun, { commit, snapshots }: Turn): PlannedCommit {
  const { refresh, before } = commit;
  const isFresh = snapshots.get(run.planned.action.table)?.version === run.fresh;
  if (refresh === undefined || isFresh || run.refreshed++ >= mostRepeats) return commit;
  return planCommit(refresh, before);
}

async function send(run: CommitRun, turn: Turn, sent: PlannedCommit, isRecorded: boolean): Promise<ActionResult> {
  const { planned, context, isResumed } = run;
  const { commit, snapshots, isSeen } = turn;
  const { kept } = turn.progress;
  const hides = commit.before.get(planned.action.table)?.columns.some(({ name }) => isHidden(name)) === true;
  const mayBeDone = isResumed && sent === commit && !onlyReads(sent.action);
  return await executeDescribed(plannedOf(sent, planned), mayBeDone, {
    ...context,
    withIndexes: true,
    // The snapshots may be outdated after a call to the lease or the ledger.
    snapshots: isSeen && !isRecorded ? snapshots : undefined,
    whileOthers: sent.detour.length > 0 ? "detour" : hides ? "hurried" : undefined,
    // While this run's call is refused or waits, others may make the same change, or give the table something that
    // the call would silently remove.
    mayAct: (tables) =>
      isAllLeft(sent.action, tables) &&
      (!sent.loses || sameKept(progressNow(run, tables)?.kept ?? kept, kept) || run.lookedAgain >= mostRepeats),
  });
}

/** Undefined unless it was the last commit. */
function endIfLast(run: CommitRun, turn: Turn, sent: PlannedCommit, ending: Done): Done | undefined {
  const { commit, progress } = turn;
  const isRefresh = sent !== commit;
  const versions = run.versions!;
  run.isResumed &&= isRefresh;
  run.seen = ending.found;
  run.versions = {
    ...versions,
    versionAfter: ending.versionAfter,
    commits: (versions.commits ?? 0) + (ending.commits ?? 1),
    ...(sent.loses && { lossy: sent.after }),
    harm: versions.harm ?? ending.harm,
  };
  const staysFresh = isRefresh || computesValues(commit) || run.fresh === ending.versionBefore?.version;
  run.fresh = staysFresh ? quietly(ending) : undefined;
  if (commit.action.kind === "dropIndex") run.dropped.add(commit.text);
  // The tables do not show it. The ledger does with the record before the next commit.
  if (changesRows(commit.action) && !isRefresh) run.passed = progress.commits.indexOf(commit) + 1;
  return sent === progress.commits.at(-1) ? run.versions : undefined;
}

/** Undefined if the action continues in spite of the failure. */
async function endAfter(
  run: CommitRun,
  { commit, progress }: Turn,
  sent: PlannedCommit,
  ending: FailedCall,
): Promise<FailedCall | undefined> {
  const { planned, context } = run;
  if (ending.starved && sent.detour.length > 0) {
    run.detourAt = commit.text;
    return undefined;
  }
  if (ending.isUnsent === true) {
    run.lookedAgain++;
    run.isResumed ||= ending.inDoubt;
    return undefined;
  }
  // The run that was taken over may have made the commit meanwhile. Then the next turn finds it done.
  if (sent !== commit && run.isResumed && (await isAfter(commit, context.target))) return undefined;
  // What others did before it stays, such as an index of that name.
  const isOurs = run.versions!.commits !== undefined || context.midway !== undefined;
  if (ending.inDoubt || isUntouched(progress) || !isOurs) return ending;
  const { versionBefore, versionAfter, commits = 0 } = run.versions!;
  const part = { versionAfter, ...ending.part, versionBefore, commits: commits + (ending.part?.commits ?? 0) };
  if (isInterruption(ending.error)) return { ...ending, part, inDoubt: true };
  return await rollBackCommits(commit, { ...ending, part }, planned, context);
}

/** Whether the commit computes the values of a column from an expression. */
function computesValues({ action }: PlannedCommit): boolean {
  return action.kind === "addColumns" && action.columns.some(({ name }) => name === madeName);
}

/** The version that the commit made, if no other version lies between it and the one before the commit. */
function quietly({ versionBefore, versionAfter }: Done): number | undefined {
  return versionBefore !== undefined && versionAfter?.version === versionBefore.version + 1
    ? versionAfter.version
    : undefined;
}

function plannedOf({ action, text, before, after }: PlannedCommit, { place }: PlannedAction): PlannedAction {
  return { place, action, text, before, after, risks: [], commits: [], recordFirst: false, proof: undefined };
}

/** Rolls back the commits before one that was refused. If that is not possible, the next run resumes from there. */
async function rollBackCommits(
  { undo, before }: PlannedCommit,
  { part, ...ending }: FailedCall,
  planned: PlannedAction,
  context: ActionContext,
): Promise<FailedCall> {
  let at = before;
  const stays = async () => ({ ...ending, inDoubt: true, left: await leftSince(planned.before, context.target) });
  if (undo.length === 0) return { ...(await stays()), part };
  for (const action of undo) {
    const commit = planCommit(action, at);
    // `mayAct` is about the version before the action's own commits.
    const back = await executeDescribed(plannedOf(commit, planned), false, { ...context, mayAct: undefined });
    // The next run finds what could not be rolled back, and resumes from there.
    if ("error" in back) return await stays();
    at = commit.after;
  }
  return ending;
}
