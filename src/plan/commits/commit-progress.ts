/** How far an action of several commits got and what comes next, from the state of its table and the ledger. Pure. */
import { isMigrateError, type MigrateError } from "../../errors/migrate-error.ts";
import type { Preserved, PartialAction } from "../../ledger/state/record.ts";
import type { Action, MetadataUpdate } from "../../actions/model/action.ts";
import { rewrites, tablesAfter } from "../../actions/apply-action.ts";
import { parsePath } from "../../schema/path.ts";
import { databaseOf, findColumn, type Table, type Tables } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { isLost, planCommit, planCommits, commitPosition, type CommitPosition, type PlannedCommit } from "./commits.ts";
import { stillToKeep, withKept } from "./preserved.ts";

export interface CommitProgress extends CommitPosition {
  readonly commits: readonly PlannedCommit[];
  /** The indexes and metadata that the table must have again when the action is done. */
  readonly kept: Preserved;
  /** Why the action cannot continue: what others have added to the table meanwhile is not compatible with it. */
  readonly problem?: MigrateError | undefined;
}

/** Undefined if the tables match no state of the action. `before`: the tables as migrations know them. */
export function commitProgress(
  action: Action,
  before: Tables,
  noted: Omit<PartialAction, "step"> | undefined,
  found: Tables,
  capabilities: Capabilities,
): CommitProgress | undefined {
  const plan = (kept: Preserved) => planCommits(action, withKept(before, action, kept), capabilities);
  const known: Preserved = { indexes: noted?.indexes ?? {}, metadata: noted?.metadata ?? {} };
  const commits = plan(known);
  const position = commitPosition(commits, found, noted?.commit);
  const table = found.get(action.table);
  const rewritten = rewrites(action);
  if (position === undefined) return undefined;
  if (table === undefined || rewritten.size === 0 || isLost(commits, position))
    return { commits, ...position, kept: known };
  const dropped = new Set(
    commits.flatMap((commit) => (commit.action.kind === "dropIndex" ? [commit.action.name] : [])),
  );
  const kept = stillToKeep(table, rewritten, known, dropped);
  try {
    const again = plan(kept);
    // Before the commit that loses indexes and metadata, no commit returns the table to an earlier state.
    const place = commitPosition(again, found);
    return place && { commits: again, ...place, kept };
  } catch (problem) {
    if (!isMigrateError(problem)) throw problem;
    return { commits, ...position, kept: known, problem };
  }
}

/** The commits of an action that has begun, and its tables when it is done, with what the ledger keeps of them. */
export function commitsOfBegun(
  action: Action,
  before: Tables,
  kept: Preserved,
  capabilities: Parameters<typeof planCommits>[2],
): { readonly commits: readonly PlannedCommit[]; readonly after: Tables } {
  const known = withKept(before, action, kept);
  return { commits: planCommits(action, known, capabilities), after: tablesAfter(databaseOf(known), action) };
}

/** The commits that are left, without what others have done meanwhile. */
export function stillToDo({ commits, done, detour }: CommitProgress, found: Tables): readonly PlannedCommit[] {
  const ahead =
    detour === 0 ? commits.slice(done) : [...commits[done]!.detour.slice(detour), ...commits.slice(done + 1)];
  return ahead.flatMap((commit) => {
    const left = withoutDone(commit.action, found.get(commit.action.table));
    if (left === undefined) return [];
    return left === commit.action ? [commit] : [planCommit(left, commit.before)];
  });
}

/** Whether others have done no part of the action meanwhile, so that it is sent unchanged. */
export function isAllLeft(action: Action, found: Tables): boolean {
  return withoutDone(action, found.get(action.table)) === action;
}

/** The action without what others have done meanwhile: the indexes and metadata that they have set are newer. */
function withoutDone(action: Action, table: Table | undefined): Action | undefined {
  if (table === undefined) return action;
  if (action.kind === "createIndex") return isThere(table, action.name) && action.replace !== true ? undefined : action;
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

/** The commits that again drop indexes which others have recreated since they were dropped: they block a cast. */
export function toDropOnceMore({ commits, done }: CommitProgress, found: Tables): readonly PlannedCommit[] {
  const next = commits[done];
  if (next === undefined) return [];
  return commits.slice(0, done).flatMap(({ action }) => {
    if (action.kind !== "dropIndex" || !isThere(found.get(action.table), action.name)) return [];
    return [{ ...planCommit(action, next.before), undo: next.undo }];
  });
}

function isThere(table: Table | undefined, index: string): boolean {
  return (table?.indexes?.[index] ?? null) !== null;
}
