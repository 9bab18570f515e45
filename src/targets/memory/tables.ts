/** Tables in memory, with a service's semantics: each change is atomic and makes a version. */
import { rewrites, tablesAfter, type Action, type ActionFor } from "../../schema/action.ts";
import { afterCast } from "../../schema/actions/alter-columns.ts";
import { indexesOn } from "../../schema/actions/surroundings.ts";
import type { Alteration } from "../../schema/alteration.ts";
import { childColumns, sameColumns, sameType, withChildColumns, type Column } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { requireColumn, type Table } from "../../schema/table.ts";
import type { TableIndex } from "../../schema/table-index.ts";
import type { Row } from "../../wire/rows.ts";
import { firstEffects, withEffects, type Effects } from "./effects.ts";

export interface MemoryTable extends Table {
  readonly indexes: Readonly<Record<string, TableIndex>>;
  /** Counted from 1. */
  readonly version: number;
  readonly effects: Effects;
  readonly rows: readonly Row[];
}

export interface MemoryTables {
  names(): readonly string[];
  get(name: string): MemoryTable | undefined;
  /** False when there is one of that name. */
  create(name: string, columns: readonly Column[], rows?: readonly Row[]): boolean;
  /** Throws what the engine would refuse. What is so already is no effect: the effects then stay the same object. */
  carryOut(action: Action): void;
  append(name: string, rows: readonly Row[]): void;
  drop(name: string): void;
  /** The same tables, that change on their own from here. */
  copy(): MemoryTables;
}

/** `times`: how often there was one of the name. */
export function memoryTables(
  tables: Map<string, MemoryTable> = new Map(),
  times: Map<string, number> = new Map(),
): MemoryTables {
  const existing = (name: string): MemoryTable => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`there is no table ${name}`);
    return table;
  };
  const create = (name: string, columns: readonly Column[], rows: readonly Row[] = []): boolean => {
    if (tables.has(name)) return false;
    times.set(name, (times.get(name) ?? 0) + 1);
    const effects = firstEffects({ columns }, times.get(name)!);
    tables.set(name, { columns, indexes: {}, version: 1, effects, rows });
    return true;
  };
  return {
    names: () => [...tables.keys()],
    get: (name) => tables.get(name),
    create,
    carryOut(action) {
      if (action.kind === "createTable") {
        if (!create(action.table, action.columns)) throw new Error("it exists already");
        return;
      }
      const table = existing(action.table);
      refuse(action, table);
      const effective = withoutIdle(action, table);
      const after = effective === undefined ? new Map([[action.table, table]]) : tablesAfter(tables, effective);
      for (const [name, changed] of after) {
        if (changed === undefined) {
          tables.delete(name);
          continue;
        }
        const left = action.kind === "alterColumns" ? afterCast(action, changed) : changed;
        const kept = { columns: left.columns.map(withoutAbsent), indexes: withoutNulls(left.indexes) };
        tables.set(name, {
          ...table,
          ...kept,
          effects: effectsAfter(table, effective, kept),
          version: table.version + 1,
        });
      }
    },
    append(name, rows) {
      const table = existing(name);
      tables.set(name, { ...table, rows: [...table.rows, ...rows], version: table.version + 1 });
    },
    drop: (name) => void tables.delete(name),
    copy: () => memoryTables(new Map(tables), new Map(times)),
  };
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
