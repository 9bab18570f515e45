/** Tables whose columns keep a number through every rename and retype, so that a value can be followed. Pure. */
import type { Action } from "../../src/actions/model/action.ts";
import { tablesAfter } from "../../src/actions/apply-action.ts";
import type { Column, DataType } from "../../src/schema/data-type.ts";
import { parsePath, type Path } from "../../src/schema/path.ts";
import { change, type Table } from "../../src/schema/table.ts";
import type { Value } from "./values.ts";

/** A column or a field of a struct, with the number that it keeps. */
export interface Numbered {
  readonly number: number;
  readonly name: string;
  readonly fields: readonly Numbered[];
}

export interface Shape {
  /** Of the table: another one under the same name has another number. */
  readonly number: number;
  readonly columns: readonly Numbered[];
  readonly table: Table;
}

/** Tables by name. */
export type World = ReadonlyMap<string, Shape>;

let last = 0;

export function numbered(columns: readonly Column[]): readonly Numbered[] {
  return columns.map(({ name, type }) => ({
    number: ++last,
    name,
    fields: type.kind === "struct" ? numbered(type.fields) : [],
  }));
}

/** Throws a MigrateError where the action can't work. */
export function worldAfter(world: World, action: Action): World {
  const tables = new Map([...world].map(([name, { table }]) => [name, table]));
  change(tables, tablesAfter(tables, action));
  const shapes = new Map<string, Shape>();
  for (const [name, table] of tables) {
    const was = world.get(action.kind === "renameTable" && name === action.name ? action.table : name);
    const number = was?.number ?? ++last;
    const columns = was === undefined ? numbered(table.columns) : columnsAfter(was, table, action, name);
    shapes.set(name, { number, columns, table });
  }
  return shapes;
}

function columnsAfter(was: Shape, table: Table, action: Action, name: string): readonly Numbered[] {
  if (action.table !== name) return was.columns;
  const moved = new Map<string, string>();
  if (action.kind === "alterColumns")
    for (const { path, rename } of action.alterations)
      if (rename !== undefined) moved.set(JSON.stringify(parsePath(path)), rename);
  const renamed = (columns: readonly Numbered[], parent: Path): readonly Numbered[] =>
    columns.map((column) => {
      const path = [...parent, column.name];
      return { ...column, name: moved.get(JSON.stringify(path)) ?? column.name, fields: renamed(column.fields, path) };
    });
  return ordered(renamed(was.columns, []), table.columns);
}

/** In the order of the table, without those that are gone; those that are new get numbers. */
function ordered(known: readonly Numbered[], columns: readonly Column[]): readonly Numbered[] {
  return columns.map((column) => {
    const one = known.find(({ name }) => name === column.name) ?? numbered([column])[0]!;
    return { ...one, fields: column.type.kind === "struct" ? ordered(one.fields, column.type.fields) : [] };
  });
}

export function typeOf(shape: Shape, name: string): DataType {
  return shape.table.columns.find((column) => column.name === name)!.type;
}

/** A struct by the numbers of its fields instead of by their names. */
export function withNumbers(value: Value, { fields }: Numbered): Value {
  if (value === null || typeof value === "string" || Array.isArray(value) || fields.length === 0) return value;
  const named = value as Readonly<Record<string, Value>>;
  return Object.fromEntries(fields.map((field) => [field.number, withNumbers(named[field.name] ?? null, field)]));
}

/** The numbers that lead to a column. */
export function numbersOf(columns: readonly Numbered[], path: Path): readonly number[] {
  const column = columns.find(({ name }) => name === path[0]);
  if (column === undefined) return [];
  return [column.number, ...(path.length === 1 ? [] : numbersOf(column.fields, path.slice(1)))];
}
