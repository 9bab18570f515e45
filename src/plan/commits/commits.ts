/** The commits that a planned action takes, with the tables before and after each. Pure. */
import type { Action, ActionKind } from "../../actions/model/action.ts";
import { changesRows, commitsOf, describeAction, tablesAfter } from "../../actions/apply-action.ts";
import type { Commit } from "../../actions/model/action-model.ts";
import { withoutMetadata } from "../../schema/metadata.ts";
import { databaseOf, sameTables, type Table, type Tables } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";

/** One commit of an action, with the tables before and after it. */
export interface PlannedCommit {
  readonly action: Action;
  readonly text: string;
  readonly undo: readonly Action[];
  readonly refresh: Action | undefined;
  /** Whether it removes the indexes and metadata of the columns that are rewritten. */
  readonly loses: boolean;
  /** Commits with the same result that succeed even if others append without pause; may be empty. */
  readonly detour: readonly PlannedCommit[];
  readonly before: Tables;
  readonly after: Tables;
}

/** `before`: the tables that the action touches, with all that is known of them. */
export function planCommits(
  action: Action,
  before: Tables,
  { actions, describes }: Pick<Capabilities, "actions" | "describes">,
): readonly PlannedCommit[] {
  const able = (kind: ActionKind) => actions[kind] === true;
  // If the target cannot describe tables, no run could resume between two commits.
  const own = before.get(action.table);
  const commits: readonly Commit[] = describes ? commitsOf(action, own, able) : [{ action }];
  return commitOrder(commits, before, commits.length > 1);
}

/** The one commit of an action that is a call of the target, whatever that can do besides. */
export function planCommit(action: Action, before: Tables): PlannedCommit {
  return planCommits(action, before, { actions: {}, describes: true })[0]!;
}

/**
 * `isPart`: the action has other commits too. Between commits, others may change indexes and metadata, and a run must
 * still find how far the action got. So a state contains only the indexes and metadata that the commit itself affects.
 */
function commitOrder(commits: readonly Commit[], before: Tables, isPart: boolean): readonly PlannedCommit[] {
  let at = before;
  return commits.map(({ action, undo = [], refresh, loses = false, detour = [] }) => {
    const was = isPart ? bare(at, namedBy(action, before)) : at;
    at = new Map([...was, ...tablesAfter(databaseOf(was), action)]);
    const turned = commitOrder(detour, was, true);
    return { action, text: describeAction(action), undo, refresh, loses, detour: turned, before: was, after: at };
  });
}

/** The index that the action drops. */
function namedBy(action: Action, tables: Tables): NonNullable<Table["indexes"]> {
  if (action.kind !== "dropIndex") return {};
  const index = tables.get(action.table)!.indexes?.[action.name];
  return index === undefined ? {} : { [action.name]: index };
}

/** The tables without known metadata, and with no other known indexes than these. */
function bare(tables: Tables, indexes: NonNullable<Table["indexes"]>): Tables {
  const without = (table: Table): Table => ({
    ...table,
    columns: table.columns.map(withoutMetadata),
    ...(table.indexes && { indexes }),
  });
  return new Map([...tables].map(([name, table]) => [name, table && without(table)]));
}

/** The states of an action's tables that show how far it has got. */
export interface ActionStates {
  /** Those between its commits. */
  readonly between: readonly Tables[];
  /** When it is done, with what must be put back; undefined if the tables can't be past it. */
  readonly after: Tables | undefined;
}

/** The possible states of the tables between the commits and after the last one, whatever others have done. */
export function statesBetween(commits: readonly PlannedCommit[]): readonly Tables[] {
  const between = commits.flatMap(({ before, detour }, index) => [
    ...(index > 0 ? [before] : []),
    ...detour.slice(1).map((step) => step.before),
  ]);
  return commits.length > 1 ? [...between, commits.at(-1)!.after] : between;
}

/**
 * How far the commits of an action have got, as the tables show it. It is no `Position`: states between commits leave open
 * what others may change, so several can match, and the last one counts.
 */
export interface CommitPosition {
  /** How many of the commits are done. */
  readonly done: number;
  /** How many commits of the next one's detour are done. */
  readonly detour: number;
}

/**
 * How far the commits from `from` on are done; undefined if the tables match none of their states. The search ends at a
 * commit that returns the tables to an earlier state or changes rows alone: progress is recorded before such a commit.
 */
export function commitPosition(
  commits: readonly PlannedCommit[],
  tables: Tables,
  from = 0,
): CommitPosition | undefined {
  const done = commitsDone(commits, tables, from);
  if (done !== undefined) return { done, detour: 0 };
  for (let at = from; at < commits.length; at++) {
    const detour = commitsDone(commits[at]!.detour, tables);
    if (detour !== undefined) return { done: at, detour };
  }
  return undefined;
}

function commitsDone(commits: readonly PlannedCommit[], tables: Tables, from = 0): number | undefined {
  const start = commits[from]?.before ?? commits.at(-1)?.after;
  let found = start !== undefined && sameTables(start, tables) ? from : undefined;
  for (let at = from; at < commits.length; at++) {
    if (at > from ? leadsBack(commits, at) : changesRows(commits[at]!.action)) break;
    if (sameTables(commits[at]!.after, tables)) found = at + 1;
  }
  return found;
}

/** Whether the indexes and metadata of the columns that are rewritten have been removed. */
export function isLost(commits: readonly PlannedCommit[], { done, detour }: CommitPosition): boolean {
  const turned = commits[done]?.detour.slice(0, detour) ?? [];
  return [...commits.slice(0, done), ...turned].some(({ loses }) => loses);
}

/** Whether the commit returns the tables to an earlier state, so that they do not show whether it is done. */
export function leadsBack(commits: readonly PlannedCommit[], at: number): boolean {
  const { action, after } = commits[at]!;
  // Earlier states say nothing about the index that it drops, so they would seem to match.
  return action.kind !== "dropIndex" && commits.slice(0, at + 1).some(({ before }) => sameTables(after, before));
}
