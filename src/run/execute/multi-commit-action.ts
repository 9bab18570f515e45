/**
 * Executes an action that takes several commits, on a target that describes its tables. Before the first commit, the
 * run records the step and what the action would lose. A run that resumes after a crash can then do the same and put
 * that back.
 */
import type { Preserved, PartialAction } from "../../ledger/state/record.ts";
import { canonicalJson } from "../../migrations/checksum.ts";
import { leadsBack, planCommits, type PlannedCommit } from "../../plan/commits/commits.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import {
  isAllLeft,
  stillToDo,
  toDropOnceMore,
  commitProgress,
  type CommitProgress,
} from "../../plan/commits/commit-progress.ts";
import { rewrites } from "../../actions/apply-action.ts";
import { isHidden } from "../../actions/rewrite/append-guard.ts";
import { madeName } from "../../schema/names.ts";
import { sameTables, type Tables } from "../../schema/table.ts";
import { mostRepeats } from "../../targets/contract/retry.ts";
import type { Target } from "../../targets/contract/target.ts";
import { act, changed, describeTables, tablesIn } from "./described-action.ts";
import type { Acting, Done, Ending, Snapshots, FailedCall } from "./send-action.ts";
import { versionIn } from "../check/table-identity.ts";
import { lookAlike, placeAfter } from "../check/look-alike.ts";

/** What the ledger knows of the action, and how to record more. */
export interface PartialNotes {
  readonly midway: PartialAction | undefined;
  note(kept: Preserved, commit: number): Promise<void>;
}

/** Whether the action takes several commits, or may do so if the table has an index that is not known yet. */
export function mayTakeCommits({ action, commits }: PlannedAction): boolean {
  return commits.length > 1 || rewrites(action).size > 0;
}

export async function actInCommits(
  planned: PlannedAction,
  mayBeDone: boolean,
  acting: Acting & PartialNotes,
): Promise<Ending> {
  const { target, lease, emit, place, note } = acting;
  const { action, before } = planned;
  const learned: Learned = {
    detourAt: undefined,
    dropped: new Set(),
    droppedAgain: new Set(),
    lookedAgain: 0,
    refreshed: 0,
  };
  let recorded: (Preserved & Pick<PartialAction, "commit">) | undefined = acting.midway;
  // An earlier run's note is recorded again: a late record of that run, such as that it failed and left nothing
  // half-done, must not erase it.
  let isOwn = false;
  let [isBegun, isResumed, isOurs] = [mayBeDone, mayBeDone, !mayBeDone];
  let versions: Done | undefined;
  // The table's version, while only this run has made versions since it computed the new values.
  let fresh: number | undefined;
  // The snapshots after a commit serve the next one, if nothing was awaited since.
  let seen: Snapshots | undefined;
  for (;;) {
    const isSeen: boolean = seen !== undefined && lease.isSure();
    const snapshots: Snapshots = isSeen ? seen! : await describeTables(before.keys(), target, true);
    seen = undefined;
    if (!isSeen) await lease.check();
    const found = tablesIn(snapshots);
    const version = snapshots.get(action.table)?.version;
    const seenVersion = versionIn(snapshots.get(action.table));
    versions ??= { before: seenVersion, after: seenVersion };
    const progressIn = (tables: Tables) => commitProgress(action, before, recorded, tables, target.capabilities);
    const where = isBegun || sameTables(before, found) ? progressIn(found) : undefined;
    if (where === undefined) return { error: changed(planned, snapshots), inDoubt: isBegun };
    const { commits, progress, kept, problem } = where;
    const isUntouched = progress.commits + progress.detour === 0;
    if (problem !== undefined && isUntouched) return { error: problem, inDoubt: isResumed };
    if (problem !== undefined) {
      const refused = stillToDo(where, found)[0]!;
      return await rollBackCommits(refused, { error: problem, inDoubt: false }, planned, acting);
    }
    for (const { action } of isOurs ? [] : commits.slice(0, progress.commits)) {
      const problem = await lookAlike(action, recorded === undefined ? "unknown" : "begun", target, placeAfter(place));
      if (problem !== undefined) return { error: new Error(problem), inDoubt: true };
    }
    isOurs = true;
    const commit = nextOf(where, found, learned);
    if (commit === undefined) return versions;

    const at = commits.indexOf(commit);
    const isDetour = commit === commits[progress.commits]?.detour[0];
    const isUnrecorded = recorded === undefined || !isOwn || !sameKept(kept, recorded);
    const leads = at > (recorded?.commit ?? 0) && leadsBack(commits, at);
    const isToRecord = leads || (isUnrecorded && (commits.length > 1 || isDetour));
    if (isToRecord) {
      // Before the loss, no commit leads back to an earlier state, so the table shows how far the action got.
      recorded = { ...kept, commit: leads ? at : (recorded?.commit ?? 0) };
      await note(kept, recorded.commit);
      isOwn = true;
    }
    if (isDetour) emit({ event: "detour", ...place, text: commit.text });
    const isRefresh = commit.refresh !== undefined && version !== fresh && learned.refreshed++ < mostRepeats;
    const now = isRefresh ? refreshOf(commit) : commit;
    const hides = commit.before.get(action.table)?.columns.some(({ name }) => isHidden(name)) === true;
    const ending = await act(plannedOf(now, planned), isResumed && !isRefresh, {
      ...acting,
      withIndexes: true,
      // The snapshots may be outdated after a call to the lease or the ledger.
      snapshots: isSeen && !isToRecord ? snapshots : undefined,
      whileOthers: now.detour.length > 0 ? "detour" : hides ? "hurried" : undefined,
      // While this run's call is refused or waits, others may make the same change, or give the table something that
      // the call would silently remove.
      mayAct: (tables) =>
        isAllLeft(now.action, tables) &&
        (!now.loses || sameKept(progressIn(tables)?.kept ?? kept, kept) || learned.lookedAgain >= mostRepeats),
    });
    if (!("error" in ending)) {
      [isBegun, isResumed] = [true, isRefresh && isResumed];
      seen = ending.found;
      versions = {
        ...versions,
        after: ending.after,
        commits: (versions.commits ?? 0) + (ending.commits ?? 1),
        ...(now.loses && { lossy: now.after }),
        harm: versions.harm ?? ending.harm,
      };
      fresh = isRefresh || computesValues(commit) || fresh === ending.before?.version ? quietly(ending) : undefined;
      if (commit.action.kind === "dropIndex") learned.dropped.add(commit.text);
      if (now === commits.at(-1)) return versions;
    } else if (ending.starved && now.detour.length > 0) {
      learned.detourAt = commit.text;
    } else if (ending.moved === true) {
      learned.lookedAgain++;
      isResumed ||= ending.inDoubt;
    } else if (!(isRefresh && isResumed && (await isAfter(commit, target)))) {
      // The run that was taken over may have made the commit meanwhile. Then the next pass finds it done.
      return ending.inDoubt || isUntouched ? ending : await rollBackCommits(commit, ending, planned, acting);
    }
  }
}

/** What the run has learned while it executes the commits. */
interface Learned {
  /** The text of the commit that lost to others' commits each time, so that its detour is taken. */
  detourAt: string | undefined;
  /** The commits that dropped indexes, and those that did so once more; an index that others recreate again stays. */
  readonly dropped: Set<string>;
  readonly droppedAgain: Set<string>;
  lookedAgain: number;
  refreshed: number;
}

/** The next commit; undefined when all are done. */
function nextOf(where: CommitProgress, found: Tables, learned: Learned): PlannedCommit | undefined {
  const { commits, progress } = where;
  const due = commits[progress.commits];
  const turn = due?.text === learned.detourAt && progress.detour === 0 ? due?.detour[0] : undefined;
  if (turn !== undefined) return turn;
  const next = stillToDo(where, found).find(({ text }) => !learned.dropped.has(text));
  const again = toDropOnceMore(where, found).find(({ text }) => !learned.droppedAgain.has(text));
  if (next?.loses !== true || again === undefined) return next;
  learned.droppedAgain.add(again.text);
  return again;
}

function sameKept(one: Preserved, other: Preserved): boolean {
  return canonicalJson(keptOf(one)) === canonicalJson(keptOf(other));
}

function keptOf({ indexes, metadata }: Preserved): Preserved {
  return { indexes, metadata };
}

/** Whether the commit computes the values of a column from an expression. */
function computesValues({ action }: PlannedCommit): boolean {
  return action.kind === "addColumns" && action.columns.some(({ name }) => name === madeName);
}

/** The version that the commit made, if no other version lies between it and the one before the commit. */
function quietly({ before, after }: Done): number | undefined {
  return before !== undefined && after?.version === before.version + 1 ? after.version : undefined;
}

/** The commit that computes the values again, as others have written to the table since. */
function refreshOf({ refresh, before }: PlannedCommit): PlannedCommit {
  return planCommits(refresh!, before, { actions: {}, describes: true })[0]!;
}

async function isAfter({ after }: PlannedCommit, target: Target): Promise<boolean> {
  return sameTables(after, tablesIn(await describeTables(after.keys(), target, true)));
}

function plannedOf({ action, text, before, after }: PlannedCommit, { place }: PlannedAction): PlannedAction {
  return { place, action, text, before, after, risks: [], commits: [], recordFirst: false, proof: undefined };
}

/**
 * Rolls back the commits before one that was refused, so that the table is as if the action had not begun. If they
 * can't be rolled back, the next run resumes from there.
 */
async function rollBackCommits(
  { undo, before }: PlannedCommit,
  ending: FailedCall,
  planned: PlannedAction,
  acting: Acting,
): Promise<FailedCall> {
  if (undo.length === 0) return { ...ending, inDoubt: true };
  let at = before;
  for (const action of undo) {
    const [commit] = planCommits(action, at, { actions: {}, describes: true });
    const back = await act(plannedOf(commit!, planned), false, acting);
    // The next run finds what could not be rolled back, and resumes from there.
    if ("error" in back) return { ...ending, inDoubt: true };
    at = commit!.after;
  }
  return ending;
}
