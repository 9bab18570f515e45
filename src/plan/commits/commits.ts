/** The commits that a planned action takes, with the tables around each. Pure. */
import type { Action, ActionKind } from "../../actions/model/action.ts";
import { commitsOf, describeAction, tablesAfter } from "../../actions/apply-action.ts";
import type { Commit } from "../../actions/model/action-model.ts";
import { withoutMetadata } from "../../schema/metadata.ts";
import { change, databaseOf, sameTables, type Table, type Tables } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";

/** One commit of an action, with the tables around it. */
export interface PlannedCommit {
  readonly action: Action;
  readonly text: string;
  readonly undo: readonly Action[];
  readonly refresh: Action | undefined;
  /** Whether the indexes and the metadata of the columns that are rewritten go with it. */
  readonly loses: boolean;
  /** Commits with the same end that come through also where others append without pause; may be none. */
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
  // Where nobody can look, nobody could go on in the middle.
  const own = before.get(action.table);
  const commits: readonly Commit[] = describes ? commitsOf(action, own, able) : [{ action, undo: [] }];
  return inOrder(commits, before, commits.length > 1);
}

/**
 * `isPart`: more commits of the same action come after or before them. In the middle of an action others may do as they
 * like with indexes and metadata, which must not keep a run from finding its place: a state tells of these just what the
 * commit itself is about.
 */
function inOrder(commits: readonly Commit[], before: Tables, isPart: boolean): readonly PlannedCommit[] {
  let at = before;
  return commits.map(({ action, undo, refresh, loses = false, detour = [] }) => {
    const was = isPart ? bare(at, namedBy(action, before)) : at;
    const database = databaseOf(was);
    change(database, tablesAfter(database, action));
    at = new Map([...was.keys()].map((name) => [name, database.get(name)]));
    const turned = inOrder(detour, was, true);
    return { action, text: describeAction(action), undo, refresh, loses, detour: turned, before: was, after: at };
  });
}

/** The index that the action drops. */
function namedBy(action: Action, tables: Tables): NonNullable<Table["indexes"]> {
  if (action.kind !== "dropIndex") return {};
  const index = tables.get(action.table)?.indexes?.[action.name];
  return index === undefined ? {} : { [action.name]: index };
}

/** The tables without what is known of indexes, but for these, and of metadata. */
function bare(tables: Tables, indexes: NonNullable<Table["indexes"]>): Tables {
  const without = (table: Table): Table => ({
    ...table,
    columns: table.columns.map(withoutMetadata),
    ...(table.indexes && { indexes }),
  });
  return new Map([...tables].map(([name, table]) => [name, table && without(table)]));
}

/** The tables as they may be between the commits, and after the last, whatever others have done meanwhile. */
export function statesBetween(commits: readonly PlannedCommit[]): readonly Tables[] {
  const between = commits.flatMap(({ before, detour }, index) => [
    ...(index > 0 ? [before] : []),
    ...detour.slice(1).map((step) => step.before),
  ]);
  return commits.length > 1 ? [...between, commits.at(-1)!.after] : between;
}

/** How far an action came: so many of its commits are done, and so many of the next one's detour. */
export interface CommitCount {
  readonly commits: number;
  readonly detour: number;
}

/**
 * How far the commits from `from` on are done; undefined when the tables are at no place among them. Past one that
 * leads back to how the tables were before, the ledger would know.
 */
export function progressOf(commits: readonly PlannedCommit[], tables: Tables, from = 0): CommitCount | undefined {
  const done = commitsDone(commits, tables, from);
  if (done !== undefined) return { commits: done, detour: 0 };
  for (let at = from; at < commits.length; at++) {
    const detour = commitsDone(commits[at]!.detour, tables);
    if (detour !== undefined) return { commits: at, detour };
  }
  return undefined;
}

function commitsDone(commits: readonly PlannedCommit[], tables: Tables, from = 0): number | undefined {
  const start = commits[from]?.before ?? commits.at(-1)?.after;
  let found = start !== undefined && sameTables(start, tables) ? from : undefined;
  for (let at = from; at < commits.length; at++) {
    if (at > from && leadsBack(commits, at)) break;
    if (sameTables(commits[at]!.after, tables)) found = at + 1;
  }
  return found;
}

/** Whether what others have given the columns that are rewritten is gone. */
export function isLost(commits: readonly PlannedCommit[], { commits: done, detour }: CommitCount): boolean {
  const turned = commits[done]?.detour.slice(0, detour) ?? [];
  return [...commits.slice(0, done), ...turned].some(({ loses }) => loses);
}

/** Whether the tables are after this commit as they were at an earlier place, so that a look could not tell them apart. */
export function leadsBack(commits: readonly PlannedCommit[], at: number): boolean {
  const { action, after } = commits[at]!;
  // States before it do not tell of the index that it drops.
  return action.kind !== "dropIndex" && commits.slice(0, at + 1).some(({ before }) => sameTables(after, before));
}
