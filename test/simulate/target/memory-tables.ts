/** Tables in memory, with the engine's semantics: each change is atomic and makes a version. */
import type { Action, ActionFor, ActionKind } from "../../../src/actions/model/action.ts";
import { rewrites, tablesAfter } from "../../../src/actions/apply-action.ts";
import { afterCast } from "../../../src/actions/kinds/columns/alter-columns.ts";
import { indexesOn } from "../../../src/actions/rewrite/rebuild-indexes.ts";
import type { Alteration } from "../../../src/actions/model/alteration.ts";
import { childColumns, sameColumns, sameType, withChildColumns, type Column } from "../../../src/schema/data-type.ts";
import { parsePath } from "../../../src/schema/path.ts";
import { requireColumn, type Table } from "../../../src/schema/table.ts";
import type { Row } from "../../../src/wire/rows/ipc-rows.ts";
import { firstEffects, withEffects, type Effects } from "./effect-log.ts";
import { commitOf, readsRows, staleBase } from "./stale-handles.ts";
import type { MemoryTable, MemoryTables } from "./memory-table.ts";
import { memoryVersions } from "./memory-versions.ts";

interface Options {
  readonly tables?: Map<string, MemoryTable>;
  /** How often there was a table of each name. */
  readonly times?: Map<string, number>;
  readonly now?: () => number;
}

/** Called by the table's name, and not on a handle. */
const byName: ReadonlySet<ActionKind> = new Set([
  "createTable",
  "dropTable",
  "renameTable",
  "restoreTable",
  "putBackRows",
]);

export function memoryTables({ tables = new Map(), times = new Map(), now = Date.now }: Options = {}): MemoryTables {
  let births = 0;
  const existing = (name: string): MemoryTable => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`there is no table ${name}`);
    return table;
  };
  const moves: { readonly at: number; readonly name: string; readonly isNew: boolean }[] = [];
  const put = (name: string, table: Omit<MemoryTable, "at">): void => {
    const at = now();
    if (!tables.has(name)) moves.push({ at, name, isNew: true });
    tables.set(name, { ...table, at });
  };
  const versions = memoryVersions(existing, put);
  const remove = (name: string): void => {
    if (tables.delete(name)) moves.push({ at: now(), name, isNew: false });
  };
  const names = (age?: number): readonly string[] => {
    const there = new Set(tables.keys());
    if (age === undefined) return [...there];
    for (const { name, isNew } of moves.filter(({ at }) => at > now() - age).toReversed())
      if (isNew) there.delete(name);
      else there.add(name);
    return [...there];
  };
  const create = (
    name: string,
    columns: readonly Column[],
    rows: readonly Row[] = [],
    metadata: Table["metadata"] = {},
    action?: ActionFor<"createTable">,
  ): boolean => {
    if (tables.has(name)) return false;
    times.set(name, (times.get(name) ?? 0) + 1);
    const effects = firstEffects({ columns }, times.get(name)!, action);
    const first = { version: 1, born: ++births, commit: "create", previous: undefined, isReadable: true } as const;
    put(name, { columns, indexes: {}, metadata, effects, rows, ...first });
    return true;
  };
  const write: MemoryTables["write"] = (name, commit, changes = {}) => {
    const table = existing(name);
    put(name, { ...table, ...changes, commit, version: table.version + 1, previous: table, restored: undefined });
  };
  return {
    names,
    get: (name) => tables.get(name),
    create,
    carryOut(action, seen) {
      const { table: name } = action;
      if (action.kind === "createTable") {
        if (!create(name, action.columns, [], action.metadata, action)) throw new Error("it exists already");
        return;
      }
      const newest = tables.get(name);
      const base = seen === undefined || byName.has(action.kind) ? existing(name) : staleBase(action, seen, newest);
      if (action.kind === "restoreTable") return versions.restore(action);
      if (action.kind === "putBackRows") return versions.putBack(action, (rows) => write(name, "append", { rows }));
      if (!base.isReadable && readsRows(action)) throw new Error("Not found: a file of the table");
      refuse(action, base);
      const effective = withoutIdle(action, base);
      const before = base === newest ? tables : new Map([...tables, [name, base]]);
      const after = effective === undefined ? new Map([[name, base]]) : tablesAfter(before, effective);
      for (const [changedName, changed] of after) {
        if (changed === undefined) {
          remove(changedName);
          continue;
        }
        const left = action.kind === "alterColumns" ? afterCast(action, changed) : changed;
        const kept = { columns: left.columns.map(withoutAbsent), indexes: withoutNulls(left.indexes) };
        put(changedName, {
          ...base,
          ...kept,
          // On a handle of a table that was dropped, the call makes it again, or changes the new one.
          born: newest?.born ?? ++births,
          isMixed: base.isMixed === true || (newest !== undefined && isAnother(seen, newest)),
          effects: effectsAfter(base, effective, kept),
          version: base.version + 1,
          commit: commitOf(action),
          previous: newest,
          restored: undefined,
        });
      }
    },
    append: (name, rows) => write(name, "append", { rows: [...existing(name).rows, ...rows] }),
    write,
    recreate(name, rows) {
      const first = { version: 1, born: ++births, commit: "create", previous: undefined, isReadable: true } as const;
      put(name, { ...existing(name), ...first, rows, restored: undefined, isMixed: false });
    },
    drop: remove,
    cleanUp: (name) => versions.cleanUp(name),
    versions,
    copy: () => memoryTables({ tables: new Map(tables), times: new Map(times), now }),
  };
}

function isAnother(seen: MemoryTable | undefined, newest: MemoryTable): boolean {
  return seen !== undefined && seen.born !== newest.born;
}

/** A cast to the same type has one where there is metadata, which it loses. */
function effectsAfter(before: MemoryTable, action: Action | undefined, after: Table): Effects {
  if (action !== undefined) return withEffects(before.effects, action, before, after);
  return sameColumns(before.columns, after.columns) ? before.effects : new Map(before.effects);
}

/** What the engine refuses of a single call, and the model takes because it is carried out in several, or may not know. */
function refuse(action: Action, table: MemoryTable): void {
  if (action.kind === "alterColumns") {
    const attached = indexesOn(table, rewrites(action)).length;
    if (attached > 0) throw new Error(`cannot cast columns that have ${attached} indexes attached`);
  }
  if (action.kind === "dropIndex" && table.indexes[action.name] === undefined)
    throw new Error(`there is no index ${action.name}`);
}

/** The part of an action that is not so already; undefined when there is none. */
function withoutIdle(action: Action, table: MemoryTable): Action | undefined {
  if (action.kind !== "alterColumns") return action;
  const alterations = action.alterations.flatMap((one) => effectOf(action, table, one));
  return alterations.length === 0 ? undefined : { ...action, alterations };
}

function effectOf(
  { table }: ActionFor<"alterColumns">,
  { columns }: Table,
  { path, rename, type, nullable }: Alteration,
): readonly Alteration[] {
  const column = requireColumn(table, columns, parsePath(path));
  const effect = {
    path,
    rename: rename === column.name ? undefined : rename,
    type: type === undefined || sameType(type, column.type) ? undefined : type,
    nullable: nullable === column.nullable ? undefined : nullable,
  };
  const isNone = effect.rename === undefined && effect.type === undefined && effect.nullable === undefined;
  return isNone ? [] : [effect];
}

/** Without what a model only knows not to be there. */
function withoutAbsent({ metadata = {}, ...column }: Column): Column {
  const there = withoutNulls(metadata);
  const type = withChildColumns(column.type, childColumns(column.type).map(withoutAbsent));
  return { ...column, type, ...(Object.keys(there).length === 0 ? {} : { metadata: there }) };
}

function withoutNulls<Value>(all: Readonly<Record<string, Value | null>> = {}): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, Value] => entry[1] !== null));
}
