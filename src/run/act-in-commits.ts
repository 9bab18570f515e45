/**
 * One action that takes several commits on a target that describes its tables. Before the first, the ledger is told of
 * which step it is and what it would lose, so that whoever goes on after a crash does the same and can put it back.
 */
import type { Kept, Midway } from "../ledger/record.ts";
import { leadsBack, planCommits, progressOf, type PlannedCommit, type Progress } from "../plan/commits.ts";
import { toKeep, withKept } from "../plan/midway.ts";
import type { PlannedAction } from "../plan/plan.ts";
import { rewrites } from "../schema/action.ts";
import { isHidden } from "../schema/actions/guard.ts";
import { sameTables, type Tables } from "../schema/table.ts";
import type { Target } from "../targets/target.ts";
import { act, changed, look, tablesIn } from "./act.ts";
import type { Acting, Ending, Undone } from "./attempt.ts";

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
  const { target, lease, emit, place, midway, note } = acting;
  const { action } = planned;
  const sights = await look(planned.before.keys(), target, true);
  await lease.check();
  const found = tablesIn(sights);
  const own = found.get(action.table);
  // Before its first commit others may have made indexes and set metadata that nobody kept.
  const isUntouched =
    midway?.commit === 0 && sameTables(withKept(planned.before, action, { ...midway, metadata: {} }), found);
  const begun = isUntouched ? undefined : midway;
  const keep = begun ?? (own && toKeep(own, rewrites(action)));
  let commits: readonly PlannedCommit[];
  try {
    commits = planCommits(action, withKept(planned.before, action, keep), target.capabilities);
  } catch (error) {
    // An index that others have made since the plan may not go with the new type.
    return { error, inDoubt: mayBeDone };
  }
  // Only what is in doubt can have begun.
  const start = progressOf(mayBeDone ? commits : commits.slice(0, 1), found, begun?.commit);
  if (start === undefined || (start.commits + start.detour > 0 && !mayBeDone))
    return { error: changed(planned, sights), inDoubt: mayBeDone };
  const kept: Kept = keep ?? { indexes: {}, metadata: {} };
  // How far the ledger knows it to be.
  let noted = begun?.commit;
  const noteAt = async (commit: number): Promise<void> => {
    await note(kept, commit);
    noted = commit;
  };
  if (begun === undefined && commits.length > 1) await noteAt(start.commits);

  const was = sights.get(action.table)?.version;
  const ahead = [...dropsOnceMore(commits, start, found, planned), ...stillToDo(commits, start)];
  let isResumed = mayBeDone;
  let [after, quiet]: readonly (number | undefined)[] = [];
  for (let commit = ahead.shift(); commit !== undefined; commit = ahead.shift()) {
    const at = commits.indexOf(commit);
    if (at > (noted ?? 0) && leadsBack(commits, at)) await noteAt(at);
    const ready = await refreshed(commit, quiet, planned, acting);
    // Who was taken over from may have done the commit itself meanwhile, which is then found done.
    const isDone = ready !== undefined && isResumed && (await isAfter(commit, target));
    if (ready !== undefined && !isDone) return ready.inDoubt ? ready : await takenBack(commit, ready, planned, acting);
    const hasDetour = commit.detour.length > 0;
    const hides = commit.before.get(action.table)?.columns.some(({ name }) => isHidden(name)) === true;
    const whileOthers = hasDetour ? "detour" : hides ? "hurried" : undefined;
    const ending = await act(plannedOf(commit, planned), isResumed, { ...acting, whileOthers });
    if (!("error" in ending)) {
      isResumed = false;
      after = ending.after;
      quiet = ending.before !== undefined && after === ending.before + 1 ? after : undefined;
    } else if (ending.starved && hasDetour) {
      if (noted === undefined) await noteAt(at);
      emit({ event: "detour", ...place, text: commit.detour[0]!.text });
      ahead.unshift(...commit.detour);
    } else {
      const isFirst = commit.before === commits[0]!.before;
      return ending.inDoubt || isFirst ? ending : await takenBack(commit, ending, planned, acting);
    }
  }
  return { before: was, after: after ?? was };
}

function stillToDo(commits: readonly PlannedCommit[], { commits: done, detour }: Progress): PlannedCommit[] {
  return detour === 0 ? commits.slice(done) : [...commits[done]!.detour.slice(detour), ...commits.slice(done + 1)];
}

/** Others may have made an index again since it was dropped, and before the cast that it stands in the way of. */
function dropsOnceMore(
  commits: readonly PlannedCommit[],
  { commits: done, detour }: Progress,
  found: Tables,
  { action }: PlannedAction,
): readonly PlannedCommit[] {
  const next = commits[done];
  if (next === undefined || detour > 0 || !commits.slice(done).some((commit) => commit.action === action)) return [];
  return commits.slice(0, done).flatMap((commit) => {
    if (commit.action.kind !== "dropIndex") return [];
    const { table, name } = commit.action;
    const isThere = (found.get(table)?.indexes?.[name] ?? null) !== null;
    return isThere ? planCommits(commit.action, next.before, { actions: {}, describes: true }) : [];
  });
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
