/**
 * What the engine makes of a call on a handle when others have committed since it was opened. Measured on the engine, and held
 * against it by test/contract/stale-handles.test.ts. Pure.
 */
import type { Action } from "../../../src/actions/model/action.ts";
import { sameType } from "../../../src/schema/data-type.ts";
import { parsePath } from "../../../src/schema/path.ts";
import { findColumn } from "../../../src/schema/table.ts";
import type { MemoryTable, Commit } from "./memory-table.ts";

/** The call lost against another commit: nothing was done, and on a fresh handle it may work. */
export class Conflict extends Error {}

export function commitOf(action: Action): Commit {
  switch (action.kind) {
    case "alterColumns":
      return action.alterations.some(({ type }) => type !== undefined) ? "merge" : "project";
    case "dropColumns":
      return "project";
    case "addColumns":
    case "addField":
      return "merge";
    case "insertRows":
    case "putBackRows":
      return "append";
    case "refreshColumn":
    case "updateRows":
      return "update";
    case "deleteRows":
      return "delete";
    case "optimizeTable":
      return "compact";
    case "createIndex":
    case "dropIndex":
      return "index";
    case "setMetadata":
      return "metadata";
    case "restoreTable":
      return "restore";
    default:
      return "create";
  }
}

/** The commits since a handle was opened that make the engine refuse a call on it. */
const conflicting: Readonly<Record<Commit, readonly Commit[]>> = {
  create: [],
  append: ["restore"],
  update: ["restore"],
  delete: ["restore"],
  compact: ["update", "delete", "compact", "merge", "restore"],
  index: ["compact", "restore"],
  metadata: ["merge"],
  project: ["project", "merge", "restore"],
  merge: ["append", "update", "delete", "compact", "metadata", "project", "merge", "restore"],
  restore: [],
};
/** "Not null" looks for nulls in the rows. */
const alsoForNotNull: readonly Commit[] = ["append", "update"];

/**
 * The table that an action changes when it was called on a handle that saw `seen` and the newest version is `now`. Throws what the
 * engine throws.
 */
export function staleBase(action: Action, seen: MemoryTable, now: MemoryTable | undefined): MemoryTable {
  if (seen === now) return now;
  const commit = commitOf(action);
  const isSame = now?.born === seen.born;
  // The files that the handle knows went with the table. An empty table had none.
  if (!isSame && seen.rows.length > 0 && readsRows(action))
    throw new Error("Not found: a file of the table that was dropped");
  // The engine looks only for versions above the one that the handle knows, whichever table they are of.
  if (now === undefined || now.version <= seen.version) return { ...seen, isReadable: seen.rows.length === 0 };
  refuseConflicts(action, commit, seen, now);
  if (commit !== "project") return now;
  return { ...now, columns: seen.columns, isReadable: now.isReadable && (isSame || sameFiles(seen, now)) };
}

/** Whether the engine reads rows of the table to carry it out. */
export function readsRows(action: Action): boolean {
  // A field without values is a new schema over the same files, though it conflicts as new files do.
  if (action.kind === "addField") return false;
  const commit = commitOf(action);
  return !["create", "restore", "metadata"].includes(commit) && (commit !== "project" || makesNotNull(action));
}

function makesNotNull(action: Action): boolean {
  return action.kind === "alterColumns" && action.alterations.some(({ nullable }) => nullable === false);
}

function refuseConflicts(action: Action, commit: Commit, seen: MemoryTable, now: MemoryTable): void {
  const others = new Set(conflicting[commit]);
  if (commit === "project" && makesNotNull(action)) for (const one of alsoForNotNull) others.add(one);
  // An index of an empty table is of none of the files that a compaction merges.
  if (commit === "index" && seen.rows.length === 0) others.delete("compact");
  for (let one: MemoryTable | undefined = now; one !== undefined && one.version > seen.version; one = one.previous)
    if (others.has(one.commit)) throw new Conflict(`preempted by ${one.commit} at version ${one.version}`);
  if (action.kind !== "setMetadata") return;
  const metadataOf = (table: MemoryTable, path: string) =>
    JSON.stringify(findColumn(table.columns, parsePath(path))?.metadata);
  const taken = action.updates.find(({ path }) => metadataOf(seen, path) !== metadataOf(now, path));
  if (taken !== undefined) throw new Conflict(`metadata of ${taken.path} was set by another`);
}

/** Whether files of one table can be read by the schema of another: fields are found by their positions. */
function sameFiles(one: MemoryTable, other: MemoryTable): boolean {
  return one.columns.every(({ type }, index) => {
    const column = other.columns[index];
    return column !== undefined && sameType(type, column.type);
  });
}
