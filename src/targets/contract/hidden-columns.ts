/**
 * A target whose tables look as migrations see them: without prepared columns and what the engine notes in views, and with
 * deferred indexes. An index that waits for values is marked as deferred instead of being created (schema/deferred-index.ts).
 */
import type {
  Action,
  AlterColumnsAction,
  CreateIndexAction,
  DropColumnsAction,
  DropIndexAction,
} from "../../actions/model/action.ts";
import { keptMark, withoutPrepared } from "../../actions/rewrite/prepared-columns.ts";
import { createIndex } from "../../actions/kinds/tables/create-index.ts";
import { ownValue } from "../../schema/data-type.ts";
import {
  deferralMarks,
  markDeferred,
  unmarkDeferred,
  withDeferred,
  type DeferralMarks,
} from "../../schema/deferred-index.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { isVectorIndex, waitsForValues } from "../../schema/table-index.ts";
import type { Table } from "../../schema/table.ts";
import { withoutViewState } from "../../wire/lance/view.ts";
import { countVectors } from "./count-vectors.ts";
import type { Capabilities, Executed, TableSnapshot, Target } from "./target.ts";

/** Whether an index that waits for values is deferred; otherwise the action fails. */
export function defersIndexes({ describes, actions }: Pick<Capabilities, "actions" | "describes">): boolean {
  return describes && actions.createIndex === true && actions.setMetadata === true;
}

export function withHiddenColumns(target: Target): Target {
  const { versions } = target;
  const marksOf = new WeakMap<Table, DeferralMarks>();
  const wholes = new WeakMap<Table, Table>();
  const view = (table: Table): Table => {
    const seen = withDeferred(withoutPrepared(withoutViewState(table)));
    if (seen === table) return table;
    marksOf.set(seen, deferralMarks(table.columns));
    wholes.set(seen, table);
    return seen;
  };
  const markedIn = (seen: TableSnapshot | undefined, name: string) =>
    seen && ownValue(marksOf.get(seen.table) ?? {}, name);
  const isThere = async ({ table, name }: DropIndexAction | CreateIndexAction) =>
    (ownValue((await target.describeTable(table, true))?.table.indexes ?? {}, name) ?? null) !== null;

  const createWaiting = async (action: CreateIndexAction, seen: TableSnapshot | undefined) => {
    const { table, name, index } = action;
    // The engine creates other indexes without values, and fails later.
    if (!isVectorIndex(index) && (await isTooFew(action, target))) return await defer(action, seen);
    let done: Executed;
    try {
      done = await target.execute(action, seen);
    } catch (error) {
      const isElse = ["conflict", "throttled"].includes(target.verdict(error).kind);
      if (isElse || !(await isTooFew(action, target))) throw error;
      return await defer(action, seen);
    }
    const marked = markedIn(seen, name);
    if (marked === undefined) return done;
    try {
      const unmark: Action = { kind: "setMetadata", table, updates: [unmarkDeferred(name, marked)] };
      return { ...(await target.execute(unmark, seen)), commits: 2 };
    } catch {
      // The mark of an index that exists has no meaning.
      return done;
    }
  };

  const defer = async (action: CreateIndexAction, seen: TableSnapshot | undefined) => {
    const { table, name, index, replace } = action;
    const update = markDeferred(name, index);
    const marked = markedIn(seen, name);
    const isMarked = marked !== undefined && isSame(markDeferred(name, marked), update);
    const set: Action = { kind: "setMetadata", table, updates: [update] };
    let { version } = isMarked ? seen! : await target.execute(set, seen);
    // Until it is dropped, the table looks as before.
    const replaced = replace === true && (await isThere(action));
    if (replaced) ({ version } = await target.execute({ kind: "dropIndex", table, name }, seen));
    return { version, commits: (isMarked ? 0 : 1) + (replaced ? 1 : 0) };
  };

  const dropMarkedIndex = async (action: DropIndexAction, seen: TableSnapshot, marked: DeferralMarks[string]) => {
    const { table, name } = action;
    const exists = await isThere(action);
    const unmark: Action = { kind: "setMetadata", table, updates: [unmarkDeferred(name, marked)] };
    const unmarked = await target.execute(unmark, seen);
    return exists ? { ...(await target.execute(action, seen)), commits: 2 } : unmarked;
  };

  /** With the marks that are kept as long as a column is there. */
  const withKeptMarks = <Own extends DropColumnsAction | AlterColumnsAction>(
    action: Own,
    seen: TableSnapshot | undefined,
  ): Own => {
    const columns = (seen && wholes.get(seen.table))?.columns ?? [];
    const markOf = (path: string) => columns.find(({ name }) => name === keptMark(parsePath(path).join(".")))?.name;
    if (action.kind === "dropColumns") {
      const marks = action.paths.flatMap((path) => markOf(path) ?? []).map((name) => formatPath([name]));
      return marks.length === 0 ? action : { ...action, paths: [...action.paths, ...marks] };
    }
    const renames = action.alterations.flatMap(({ path, rename }) => {
      // A rollback switches the two columns, and drops what then has the name of the old one.
      const isSwitched = action.alterations.some((other) => other.rename === path);
      const mark = rename === undefined || isSwitched ? undefined : markOf(path);
      return mark === undefined ? [] : [{ path: formatPath([mark]), rename: keptMark(rename!) }];
    });
    return renames.length === 0 ? action : { ...action, alterations: [...action.alterations, ...renames] };
  };

  return {
    ...target,
    async describeTable(table, withIndexes) {
      const seen = await target.describeTable(table, withIndexes);
      return seen && { ...seen, table: view(seen.table) };
    },
    async execute(action, seen) {
      if (action.kind === "dropColumns" || action.kind === "alterColumns")
        return await target.execute(withKeptMarks(action, seen), seen);
      if (!defersIndexes(target.capabilities)) return await target.execute(action, seen);
      if (action.kind === "createIndex" && waitsForValues(action.index)) return await createWaiting(action, seen);
      const marked = action.kind === "dropIndex" ? markedIn(seen, action.name) : undefined;
      if (marked !== undefined) return await dropMarkedIndex(action as DropIndexAction, seen!, marked);
      return await target.execute(action, seen);
    },
    versions: versions && {
      ...versions,
      async look(table, version, after) {
        const { columns, ...old } = await versions.look(table, version, after);
        return { ...old, columns: view({ columns }).columns };
      },
      at: async (table, version, withIndexes) => view(await versions.at(table, version, withIndexes)),
    },
  };
}

/** Whether more values are all that the index needs. */
async function isTooFew(action: CreateIndexAction, target: Target): Promise<boolean> {
  const { table, index } = action;
  try {
    const seen = await target.describeTable(table);
    if (seen === undefined) return false;
    createIndex.after({ columns: seen.table.columns }, action);
    const found = await countVectors(table, index, seen.table.columns, target);
    return found !== undefined && found.vectors < found.needed;
  } catch {
    // The engine's own error is more precise.
    return false;
  }
}

function isSame(one: ReturnType<typeof markDeferred>, other: ReturnType<typeof markDeferred>): boolean {
  return one.path === other.path && Object.entries(one.metadata).every(([key, value]) => other.metadata[key] === value);
}
