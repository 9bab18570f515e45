/**
 * A target whose tables look as migrations see them: without prepared columns, and with deferred indexes. A vector index
 * that can't be trained yet is marked as deferred instead of being refused (schema/deferred-index.ts).
 */
import type { Action, CreateIndexAction, DropIndexAction } from "../../actions/model/action.ts";
import { withoutPrepared } from "../../actions/rewrite/prepared-columns.ts";
import { createIndex } from "../../actions/kinds/tables/create-index.ts";
import { ownValue } from "../../schema/data-type.ts";
import {
  deferralMarks,
  markDeferred,
  unmarkDeferred,
  withDeferred,
  type DeferralMarks,
} from "../../schema/deferred-index.ts";
import { isVectorIndex } from "../../schema/table-index.ts";
import type { Table } from "../../schema/table.ts";
import { countVectors } from "./count-vectors.ts";
import type { Capabilities, TableSnapshot, Target } from "./target.ts";

/** Whether a vector index that can't be trained is deferred; otherwise the action fails. */
export function defersIndexes({ describes, actions }: Pick<Capabilities, "actions" | "describes">): boolean {
  return describes && actions.createIndex === true && actions.setMetadata === true;
}

export function asMigrationsSee(target: Target): Target {
  const { versions } = target;
  const marksOf = new WeakMap<Table, DeferralMarks>();
  const view = (table: Table): Table => {
    const seen = withDeferred(withoutPrepared(table));
    if (seen !== table) marksOf.set(seen, deferralMarks(table.columns));
    return seen;
  };
  const commits = new WeakMap<Action, number>();
  const markedIn = (seen: TableSnapshot | undefined, name: string) =>
    seen && ownValue(marksOf.get(seen.table) ?? {}, name);
  const isThere = async ({ table, name }: DropIndexAction | CreateIndexAction) =>
    (ownValue((await target.describeTable(table, true))?.table.indexes ?? {}, name) ?? null) !== null;

  const createVectorIndex = async (action: CreateIndexAction, seen: TableSnapshot | undefined) => {
    const { table, name } = action;
    let version: number | undefined;
    try {
      version = await target.execute(action, seen);
    } catch (error) {
      const isElse = ["conflict", "throttled"].includes(target.verdict(error).kind);
      if (isElse || !(await isTooFew(action, target))) throw error;
      return await defer(action, seen);
    }
    const marked = markedIn(seen, name);
    if (marked === undefined) return version;
    try {
      version = await target.execute({ kind: "setMetadata", table, updates: [unmarkDeferred(name, marked)] }, seen);
      commits.set(action, 2);
    } catch {
      // The mark of an index that exists has no meaning.
    }
    return version;
  };

  const defer = async (action: CreateIndexAction, seen: TableSnapshot | undefined) => {
    const { table, name, index, replace } = action;
    const update = markDeferred(name, index);
    const marked = markedIn(seen, name);
    const isMarked = marked !== undefined && isSame(markDeferred(name, marked), update);
    const set: Action = { kind: "setMetadata", table, updates: [update] };
    let version = isMarked ? seen!.version : await target.execute(set, seen);
    // Until it is dropped, the table looks as before.
    const replaced = replace === true && (await isThere(action));
    if (replaced) version = await target.execute({ kind: "dropIndex", table, name }, seen);
    commits.set(action, (isMarked ? 0 : 1) + (replaced ? 1 : 0));
    return version;
  };

  const dropMarkedIndex = async (action: DropIndexAction, seen: TableSnapshot, marked: DeferralMarks[string]) => {
    const { table, name } = action;
    const exists = await isThere(action);
    const unmark: Action = { kind: "setMetadata", table, updates: [unmarkDeferred(name, marked)] };
    const version = await target.execute(unmark, seen);
    if (!exists) return version;
    commits.set(action, 2);
    return await target.execute(action, seen);
  };

  return {
    ...target,
    async describeTable(table, withIndexes) {
      const seen = await target.describeTable(table, withIndexes);
      return seen && { ...seen, table: view(seen.table) };
    },
    async execute(action, seen) {
      if (!defersIndexes(target.capabilities)) return await target.execute(action, seen);
      if (action.kind === "createIndex" && isVectorIndex(action.index)) return await createVectorIndex(action, seen);
      const marked = action.kind === "dropIndex" ? markedIn(seen, action.name) : undefined;
      if (marked !== undefined) return await dropMarkedIndex(action as DropIndexAction, seen!, marked);
      return await target.execute(action, seen);
    },
    commitsOf: (action) => commits.get(action) ?? target.commitsOf?.(action),
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

/** Whether more vectors are all that the index needs. */
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
