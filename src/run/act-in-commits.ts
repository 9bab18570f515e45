/**
 * One action that takes several commits on a target that describes its tables. Before the first, the ledger is told of
 * which step it is and what it would lose, so that whoever goes on after a crash does the same and can put it back.
 */
import type { Kept, Midway } from "../ledger/record.ts";
import { canonicalJson } from "../migrations/checksum.ts";
import { leadsBack, planCommits, type PlannedCommit } from "../plan/commits.ts";
import type { PlannedAction } from "../plan/plan.ts";
import { stillToDo, toDropOnceMore, whereabouts, type Whereabouts } from "../plan/whereabouts.ts";
import { rewrites } from "../schema/action.ts";
import { isHidden, madeName } from "../schema/actions/guard.ts";
import { sameTables, type Tables } from "../schema/table.ts";
import type { Target } from "../targets/target.ts";
import { act, changed, look, tablesIn } from "./act.ts";
import type { Acting, Done, Ending, Undone } from "./attempt.ts";

/** What the ledger knows of the action, and how it is told more. */
export interface Noting {
  readonly midway: Midway | undefined;
  note(kept: Kept, commit: number): Promise<void>;
}

/** Whether it takes several commits, or might on a table with an index that nobody knows of yet. */
export function mayTakeCommits({ action, commits }: PlannedAction): boolean {
  return commits.length > 1 || rewrites(action).size > 0;
}

export async function actInCommits(
  planned: PlannedAction,
  mayBeDone: boolean,
  acting: Acting & Noting,
): Promise<Ending> {
  const { target, lease, emit, place, note } = acting;
  const { action, before } = planned;
  const ways: Ways = { turnsAt: undefined, droppedAgain: new Set() };
  let noted: (Kept & Pick<Midway, "commit">) | undefined = acting.midway;
  let [isBegun, isResumed] = [mayBeDone, mayBeDone];
  let versions: Done | undefined;
  // The table's version since its new values were worked out, while nobody else has made one.
  let fresh: number | undefined;
  for (;;) {
    const sights = await look(before.keys(), target, true);
    await lease.check();
    const found = tablesIn(sights);
    const version = sights.get(action.table)?.version;
    versions ??= { before: version, after: version };
    const isAsPlanned = isBegun || sameTables(before, found);
    const where = isAsPlanned ? whereabouts(action, before, noted, found, target.capabilities) : undefined;
    if (where === undefined) return { error: changed(planned, sights), inDoubt: isBegun };
    const { commits, progress, kept, problem } = where;
    const commit = nextOf(where, found, ways);
    if (commit === undefined) return versions;
    const isUntouched = progress.commits + progress.detour === 0;
    if (problem !== undefined && isUntouched) return { error: problem, inDoubt: isResumed };
    if (problem !== undefined) return await takenBack(commit, { error: problem, inDoubt: false }, planned, acting);

    const at = commits.indexOf(commit);
    const isTurn = commit === commits[ways.turnsAt ?? -1]?.detour[0];
    const isNews = noted === undefined || canonicalJson(kept) !== canonicalJson(keptOf(noted));
    const leads = at > (noted?.commit ?? 0) && leadsBack(commits, at);
    if (leads || (isNews && (commits.length > 1 || isTurn))) {
      // Before the loss nothing leads back: a look tells.
      noted = { ...kept, commit: leads ? at : (noted?.commit ?? 0) };
      await note(kept, noted.commit);
    }
    if (isTurn) emit({ event: "detour", ...place, text: commit.text });
    const ending = await carryOut(commit, isResumed, fresh, planned, acting);
    if (!("error" in ending)) {
      [isBegun, isResumed] = [true, false];
      versions = { ...versions, after: ending.after };
      fresh = worksOut(commit) || fresh === ending.before ? quietly(ending) : undefined;
      if (commit === commits.at(-1)) return versions;
    } else if (ending.starved && commit.detour.length > 0) {
      ways.turnsAt = at;
    } else {
      return ending.inDoubt || isUntouched ? ending : await takenBack(commit, ending, planned, acting);
    }
  }
}

/** What a run has found out about the way. */
interface Ways {
  /** The commit before which others came each time, so that its detour is gone. */
  turnsAt: number | undefined;
  /** What was dropped once more, which is done once: who makes it again and again is not to be outrun. */
  readonly droppedAgain: Set<string>;
}

/** The commit that is next; undefined when all are done. */
function nextOf(where: Whereabouts, found: Tables, { turnsAt, droppedAgain }: Ways): PlannedCommit | undefined {
  const { commits, progress } = where;
  if (turnsAt === progress.commits && progress.detour === 0) return commits[turnsAt]?.detour[0];
  const [next] = stillToDo(where, found);
  const again = toDropOnceMore(where, found).find(({ text }) => !droppedAgain.has(text));
  if (next?.loses !== true || again === undefined) return next;
  droppedAgain.add(again.text);
  return again;
}

async function carryOut(
  commit: PlannedCommit,
  mayBeDone: boolean,
  fresh: number | undefined,
  planned: PlannedAction,
  acting: Acting,
): Promise<Ending> {
  const stopped = await refreshed(commit, fresh, planned, acting);
  // Who was taken over from may have done the commit itself meanwhile, which is then found done.
  if (stopped !== undefined && !(mayBeDone && (await isAfter(commit, acting.target)))) return stopped;
  const hides = commit.before.get(planned.action.table)?.columns.some(({ name }) => isHidden(name)) === true;
  const whileOthers = commit.detour.length > 0 ? "detour" : hides ? "hurried" : undefined;
  return await act(plannedOf(commit, planned), mayBeDone, { ...acting, whileOthers });
}

function keptOf({ indexes, metadata }: Kept): Kept {
  return { indexes, metadata };
}

/** Whether it gives a column the values that an expression is worth. */
function worksOut({ action }: PlannedCommit): boolean {
  return action.kind === "addColumns" && action.columns.some(({ name }) => name === madeName);
}

/** The version that a commit made right after the one that was seen before it. */
function quietly({ before, after }: Done): number | undefined {
  return before !== undefined && after === before + 1 ? after : undefined;
}

/**
 * The error that stopped it; undefined when nothing was to be done, or it is. `version`: the table's since the last commit,
 * where nobody else's came between the look before that and the look after it.
 */
async function refreshed(
  { refresh, before }: PlannedCommit,
  version: number | undefined,
  planned: PlannedAction,
  acting: Acting,
): Promise<Undone | undefined> {
  if (refresh === undefined) return undefined;
  const seen = await acting.target.look(planned.action.table);
  if (version !== undefined && seen?.version === version) return undefined;
  const [again] = planCommits(refresh, before, { actions: {}, describes: true });
  const ending = await act(plannedOf(again!, planned), false, acting);
  return "error" in ending ? ending : undefined;
}

async function isAfter({ after }: PlannedCommit, target: Target): Promise<boolean> {
  return sameTables(after, tablesIn(await look(after.keys(), target, true)));
}

function plannedOf({ action, text, before, after }: PlannedCommit, { place }: PlannedAction): PlannedAction {
  return { place, action, text, before, after, risks: [], commits: [], recordFirst: false, proof: undefined };
}

/**
 * What came before a commit that was refused is taken back, so that the table is as if nothing had begun; where there is
 * no way back, the next run goes on from there.
 */
async function takenBack(
  { undo, before }: PlannedCommit,
  ending: Undone,
  planned: PlannedAction,
  acting: Acting,
): Promise<Undone> {
  if (undo.length === 0) return { ...ending, inDoubt: true };
  let at = before;
  for (const action of undo) {
    const [commit] = planCommits(action, at, { actions: {}, describes: true });
    const back = await act(plannedOf(commit!, planned), false, acting);
    // What could not be taken back is found by the next run, which goes on from there.
    if ("error" in back) return { ...ending, inDoubt: true };
    at = commit!.after;
  }
  return ending;
}
