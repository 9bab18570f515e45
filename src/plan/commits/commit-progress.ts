/** Where an action of several commits is, and what it does next, by what its table looks like and what the ledger knows. Pure. */
import { isMigrateError, type MigrateError } from "../../errors/migrate-error.ts";
import type { Preserved, PartialAction } from "../../ledger/state/record.ts";
import type { Action, MetadataUpdate } from "../../actions/model/action.ts";
import { rewrites, tablesAfter } from "../../actions/apply-action.ts";
import { parsePath } from "../../schema/path.ts";
import { databaseOf, findColumn, type Table, type Tables } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { isLost, planCommits, progressOf, type PlannedCommit, type CommitCount } from "./commits.ts";
import { stillToKeep, withKept } from "./preserved.ts";

export interface CommitProgress {
  readonly commits: readonly PlannedCommit[];
  readonly progress: CommitCount;
  /** What of the table has to be as it is now when the action is done. */
  readonly kept: Preserved;
  /** Why it can't go on: what others have given the table meanwhile does not go with it. */
  readonly problem?: MigrateError | undefined;
}

/** Undefined when the table is at no place of the action. `before`: as migrations know the tables. */
export function commitProgress(
  action: Action,
  before: Tables,
  noted: Pick<PartialAction, keyof Preserved | "commit"> | undefined,
  found: Tables,
  capabilities: Capabilities,
): CommitProgress | undefined {
  const plan = (kept: Preserved) => planCommits(action, withKept(before, action, kept), capabilities);
  const known: Preserved = { indexes: noted?.indexes ?? {}, metadata: noted?.metadata ?? {} };
  const commits = plan(known);
  const progress = progressOf(commits, found, noted?.commit);
  const table = found.get(action.table);
  if (progress === undefined) return undefined;
  if (table === undefined || isLost(commits, progress)) return { commits, progress, kept: known };
  const dropped = new Set(
    commits.flatMap((commit) => (commit.action.kind === "dropIndex" ? [commit.action.name] : [])),
  );
  const kept = stillToKeep(table, rewrites(action), known, dropped);
  try {
    const again = plan(kept);
    // Nothing that comes before the loss leads back to an earlier place.
    const place = progressOf(again, found);
    return place && { commits: again, progress: place, kept };
  } catch (problem) {
    if (!isMigrateError(problem)) throw problem;
    return { commits, progress, kept: known, problem };
  }
}

/** The commits of an action that the ledger knows to have begun, and its tables when it is done, with what was kept of them. */
export function commitsOfBegun(
  action: Action,
  before: Tables,
  kept: Preserved,
  capabilities: Parameters<typeof planCommits>[2],
): { readonly commits: readonly PlannedCommit[]; readonly after: Tables } {
  const known = withKept(before, action, kept);
  return { commits: planCommits(action, known, capabilities), after: tablesAfter(databaseOf(known), action) };
}

/** The commits that are left. What others have done meanwhile is not done once more. */
export function stillToDo({ commits, progress }: CommitProgress, found: Tables): readonly PlannedCommit[] {
  const { commits: done, detour } = progress;
  const ahead =
    detour === 0 ? commits.slice(done) : [...commits[done]!.detour.slice(detour), ...commits.slice(done + 1)];
  return ahead.flatMap((commit) => {
    const left = withoutDone(commit.action, found.get(commit.action.table));
    if (left === undefined) return [];
    return left === commit.action ? [commit] : planCommits(left, commit.before, { actions: {}, describes: true });
  });
}

/** Whether others have done nothing of it meanwhile, so that it is sent as it is. */
export function isAllLeft(action: Action, found: Tables): boolean {
  return withoutDone(action, found.get(action.table)) === action;
}

/** Others may have made the index again, or have set the metadata: then theirs is newer. */
function withoutDone(action: Action, table: Table | undefined): Action | undefined {
  if (table === undefined) return action;
  if (action.kind === "createIndex") return isThere(table, action.name) ? undefined : action;
  if (action.kind !== "setMetadata") return action;
  const updates = action.updates.flatMap(({ path, metadata }) => {
    const own = findColumn(table.columns, parsePath(path))?.metadata ?? {};
    const left = Object.entries(metadata).filter(([key]) => (own[key] ?? null) === null);
    return left.length === 0 ? [] : [{ path, metadata: Object.fromEntries(left) }];
  });
  if (updates.length === 0) return undefined;
  return sizeOf(updates) === sizeOf(action.updates) ? action : { ...action, updates };
}

function sizeOf(updates: readonly MetadataUpdate[]): number {
  return updates.reduce((sum, { metadata }) => sum + Object.keys(metadata).length, 0);
}

/** Others may have made an index again since it was dropped, which stands in the way of a cast. */
export function toDropOnceMore({ commits, progress }: CommitProgress, found: Tables): readonly PlannedCommit[] {
  const next = commits[progress.commits];
  if (next === undefined) return [];
  return commits.slice(0, progress.commits).flatMap(({ action }) => {
    if (action.kind !== "dropIndex" || !isThere(found.get(action.table), action.name)) return [];
    return planCommits(action, next.before, { actions: {}, describes: true }).map((commit) => ({
      ...commit,
      undo: next.undo,
    }));
  });
}

function isThere(table: Table | undefined, index: string): boolean {
  return (table?.indexes?.[index] ?? null) !== null;
}
