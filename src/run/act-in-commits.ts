/**
 * One action that takes several commits on a target that describes its tables. Before the first, the ledger is told of
 * which step it is and what it would lose, so that whoever goes on after a crash does the same and can put it back.
 */
import type { Kept, Midway } from "../ledger/record.ts";
import { canonicalJson } from "../migrations/checksum.ts";
import { leadsBack, planCommits, type PlannedCommit } from "../plan/commits.ts";
import type { PlannedAction } from "../plan/plan.ts";
import { stillToDo, toDropOnceMore, whereabouts } from "../plan/whereabouts.ts";
import { rewrites } from "../schema/action.ts";
import { isHidden, madeName } from "../schema/actions/guard.ts";
import { sameTables } from "../schema/table.ts";
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
  let noted: (Kept & Pick<Midway, "commit">) | undefined = acting.midway;
  let isBegun = mayBeDone;
  let isResumed = mayBeDone;
  let turnsAt: number | undefined;
  let versions: { readonly was: number | undefined; readonly after: number | undefined } | undefined;
  // The table's version since its new values were worked out, while nobody else has made one.
  let fresh: number | undefined;
  const droppedAgain = new Set<string>();
  for (;;) {
    const sights = await look(before.keys(), target, true);
    await lease.check();
    const found = tablesIn(sights);
    const version = sights.get(action.table)?.version;
    versions ??= { was: version, after: version };
    const isAsPlanned = isBegun || sameTables(before, found);
    const where = isAsPlanned ? whereabouts(action, before, noted, found, target.capabilities) : undefined;
    if (where === undefined) return { error: changed(planned, sights), inDoubt: isBegun };
    const { commits, progress, kept } = where;
    const isUntouched = progress.commits + progress.detour === 0;
    const again = toDropOnceMore(where, found).find(({ text }) => !droppedAgain.has(text));
    const turned = turnsAt === progress.commits && progress.detour === 0 ? commits[turnsAt]?.detour : undefined;
    const [following] = turned ?? stillToDo(where, found);
    const commit = following?.loses === true && again !== undefined ? again : following;
    if (commit === undefined) return { before: versions.was, after: versions.after };
    if (where.problem !== undefined) {
      const ending = { error: where.problem, inDoubt: isUntouched && isResumed };
      return isUntouched ? ending : await takenBack(commit, ending, planned, acting);
    }
    if (commit === again) droppedAgain.add(again.text);

    const at = commits.indexOf(commit);
    const isNews = noted === undefined || canonicalJson(kept) !== canonicalJson(keptOf(noted));
    const leads = at > (noted?.commit ?? 0) && leadsBack(commits, at);
    if (leads || (isNews && (commits.length > 1 || turned !== undefined))) {
      // Before the loss nothing leads back: a look tells.
      noted = { ...kept, commit: leads ? at : (noted?.commit ?? 0) };
      await note(kept, noted.commit);
    }
    if (commit === turned?.[0]) emit({ event: "detour", ...place, text: commit.text });
    const ready = await refreshed(commit, fresh, planned, acting);
    // Who was taken over from may have done the commit itself meanwhile, which is then found done.
    const isDone = ready !== undefined && isResumed && (await isAfter(commit, target));
    if (ready !== undefined && !isDone) return ready.inDoubt ? ready : await takenBack(commit, ready, planned, acting);
    const hasDetour = commit.detour.length > 0;
    const hides = commit.before.get(action.table)?.columns.some(({ name }) => isHidden(name)) === true;
    const whileOthers = hasDetour ? "detour" : hides ? "hurried" : undefined;
    const ending = await act(plannedOf(commit, planned), isResumed, { ...acting, whileOthers });
    if (!("error" in ending)) {
      [isBegun, isResumed] = [true, false];
      versions = { ...versions, after: ending.after };
      fresh = worksOut(commit) || fresh === ending.before ? quietly(ending) : undefined;
      if (commit === commits.at(-1)) return { before: versions.was, after: versions.after };
    } else if (ending.starved && hasDetour) {
      turnsAt = at;
    } else {
      return ending.inDoubt || isUntouched ? ending : await takenBack(commit, ending, planned, acting);
    }
  }
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
