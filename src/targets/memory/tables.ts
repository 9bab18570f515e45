/**
 * Tables in memory, with a service's semantics: each change is atomic and makes a version. They remember what took effect
 * on every column, so that a change that was made twice, or made and taken back, is seen.
 */
import { alterColumns, type Alteration } from "../../schema/alter.ts";
import { formatType, sameType, type Column } from "../../schema/data-type.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { currentPath, newNames } from "../../schema/renames.ts";
import { columnPaths, findColumn, type Table } from "../../schema/table.ts";
import type { Row } from "../../wire/rows.ts";

/** What took effect on each column since it was made, in order, by its path. */
export type Effects = ReadonlyMap<string, readonly string[]>;

export interface MemoryTable extends Table {
  /** Counted from 1. */
  readonly version: number;
  readonly effects: Effects;
  readonly rows: readonly Row[];
}

/** A change that can't be made. */
export interface Refusal {
  readonly refused: string;
}

export interface MemoryTables {
  names(): readonly string[];
  get(name: string): MemoryTable | undefined;
  /** False when there is one of that name. */
  create(name: string, columns: readonly Column[], rows?: readonly Row[]): boolean;
  /** Throws what the engine would refuse. What is so already is no effect: the effects then stay the same object. */
  alter(name: string, alterations: readonly Alteration[]): void;
  append(name: string, rows: readonly Row[]): void;
  drop(name: string): void;
}

export function memoryTables(): MemoryTables {
  const tables = new Map<string, MemoryTable>();
  const change = (name: string, table: MemoryTable, changes: Partial<MemoryTable>) =>
    void tables.set(name, { ...table, ...changes, version: table.version + 1 });
  const existing = (name: string): MemoryTable => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`there is no table ${name}`);
    return table;
  };
  return {
    names: () => [...tables.keys()],
    get: (name) => tables.get(name),
    create(name, columns, rows = []) {
      if (tables.has(name)) return false;
      tables.set(name, { columns, version: 1, effects: untouched(columns), rows });
      return true;
    },
    alter(name, alterations) {
      const table = existing(name);
      const effective = alterations.flatMap((alteration) => effectOf(name, table, alteration));
      const { columns } = effective.length === 0 ? table : alterColumns(name, table, effective);
      const effects = effective.length === 0 ? table.effects : withEffects(table.effects, effective);
      change(name, table, { columns, effects });
    },
    append(name, rows) {
      const table = existing(name);
      change(name, table, { rows: [...table.rows, ...rows] });
    },
    drop: (name) => void tables.delete(name),
  };
}

export function untouched(columns: readonly Column[]): Effects {
  return new Map(columnPaths(columns).map((path) => [formatPath(path), []]));
}

/** The part of an alteration that is not so already. */
function effectOf(
  name: string,
  { columns }: Table,
  { path, rename, type, nullable }: Alteration,
): readonly Alteration[] {
  const at = parsePath(path);
  const column = findColumn(columns, at);
  if (column === undefined) throw new Error(`table ${name} has no column ${path}`);
  const effect = {
    path,
    rename: rename === column.name ? undefined : rename,
    type: type === undefined || sameType(type, column.type) ? undefined : type,
    nullable: nullable === column.nullable ? undefined : nullable,
  };
  const isNone = effect.rename === undefined && effect.type === undefined && effect.nullable === undefined;
  return isNone ? [] : [effect];
}

export function withEffects(effects: Effects, alterations: readonly Alteration[]): Effects {
  const names = newNames(alterations);
  const added = new Map(
    alterations.map((alteration) => [formatPath(parsePath(alteration.path)), wordsOf(alteration)] as const),
  );
  const paths = new Set([...effects.keys(), ...added.keys()]);
  return new Map(
    [...paths].map((path) => [
      formatPath(currentPath(parsePath(path), names)),
      [...(effects.get(path) ?? []), ...(added.get(path) ?? [])],
    ]),
  );
}

function wordsOf({ rename, type, nullable }: Alteration): readonly string[] {
  return [
    ...(rename === undefined ? [] : [`renamed to ${rename}`]),
    ...(type === undefined ? [] : [`retyped to ${formatType(type)}`]),
    ...(nullable === undefined ? [] : [nullable ? "made nullable" : "made not null"]),
  ];
}
