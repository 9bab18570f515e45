/** What tables may hold after what applications wrote and a run did, held against what they do hold. */
import { formatType, type Column } from "../../src/schema/data-type.ts";

import { keyOf } from "./steps.ts";
import { neverThere, put, recreated, remove, statesAfter, type Cells, type Change, type RowState } from "./rows.ts";
import { typeOf, withNumbers, type Numbered, type Shape, type World } from "./shapes.ts";
import { cast, valueOf, type Value } from "./values.ts";
import type { Keys, Write, WrittenRow } from "./write.ts";

/** Something that a run does, one after the other, and the tables after it. */
export interface Stage {
  readonly world: World;
  /** To the row of a key in the table of a number. */
  readonly change: (table: number, key: string) => Change;
  /** Rows that it may bring. */
  readonly brings: readonly { readonly table: number; readonly key: string }[];
}

/** What is known of all rows, by the numbers of tables and their keys. */
export type Known = ReadonlyMap<number, ReadonlyMap<string, readonly RowState[]>>;

/** A table as it is read. */
export interface Found {
  readonly columns: readonly Column[];
  readonly rows: readonly Readonly<Record<string, Value>>[];
}

/** What is known before a run. */
export interface Start {
  readonly world: World;
  readonly known: Known;
  /** How many migrations are applied. */
  readonly migrations: number;
}

export interface Judgement {
  /** In words: what was lost, or is there and should not be. */
  readonly problems: readonly string[];
  /** The tables whose rows are not as they should be. */
  readonly tables: readonly string[];
  /** What is known from then on. */
  readonly known: Known;
}

/** `done`: after how many of the stages the tables are. `isMidway`: columns may be between that and the next. */
export function judge(
  start: Start,
  stages: readonly Stage[],
  writes: readonly Write[],
  done: number,
  found: ReadonlyMap<string, Found>,
  isMidway = false,
): Judgement {
  const worlds = [start.world, ...stages.map((stage) => stage.world)].slice(0, done + 1);
  const now = worlds.at(-1)!;
  const problems: string[] = [];
  const wrong = new Set<string>();
  const next = new Map<number, ReadonlyMap<string, readonly RowState[]>>();
  for (const name of found.keys()) if (!now.has(name)) problems.push(`there is a table ${name}, which should not be`);
  for (const [name, shape] of now) {
    const table = found.get(name);
    if (table === undefined) {
      problems.push(`there is no table ${name}`);
      continue;
    }
    const columns = isMidway ? undefined : schemaProblem(shape, table);
    if (columns !== undefined) {
      problems.push(columns);
      continue;
    }
    const own = judgeTable(name, shape, worlds, { start, stages: stages.slice(0, done), writes }, table);
    next.set(shape.number, own.known);
    if (own.problems.length > 0) wrong.add(name);
    problems.push(...own.problems);
  }
  return { problems, tables: [...wrong], known: next };
}

/** Of the rows that may be there. */
export function keysOf({ world, known }: Pick<Start, "world" | "known">): Keys {
  const mayBeThere = (states: readonly RowState[]) => states.some(({ cells }) => cells !== null);
  return Object.fromEntries(
    [...world].map(([name, { number }]) => [
      name,
      [...(known.get(number) ?? [])].flatMap(([key, states]) => (mayBeThere(states) ? [key] : [])),
    ]),
  );
}

function schemaProblem({ table }: Shape, found: Found): string | undefined {
  const words = (columns: readonly Column[]) =>
    columns.map(({ name, type, nullable }) => `${name} ${formatType(type)}${nullable ? "" : " not null"}`).join(", ");
  const [should, is] = [words(table.columns), words(found.columns)];
  return should === is ? undefined : `the columns are ${is} and should be ${should}`;
}

function judgeTable(
  name: string,
  shape: Shape,
  worlds: readonly World[],
  {
    start,
    stages,
    writes,
  }: { readonly start: Start; readonly stages: readonly Stage[]; readonly writes: readonly Write[] },
  found: Found,
): { readonly problems: readonly string[]; readonly known: ReadonlyMap<string, readonly RowState[]> } {
  const problems: string[] = [];
  const { number } = shape;
  const actual = rowsByKey(shape, found, problems);
  const before = start.known.get(number) ?? new Map<string, readonly RowState[]>();
  const own = writes.filter(({ table }) => worlds.some((world) => world.get(table)?.number === number));
  const keys = new Set([
    ...before.keys(),
    ...actual.keys(),
    ...own.flatMap(({ rows }) => rows.map(({ key }) => key)),
    ...stages.flatMap(({ brings }) => brings.filter(({ table }) => table === number).map(({ key }) => key)),
  ]);
  const after = new Map<string, readonly RowState[]>();
  const never = neverThere(start.migrations);
  const compared = shape.columns
    .filter(({ name: one }) => sameTypeIn(found.columns, shape.table.columns, one))
    .map((column) => column.number);
  for (const key of keys) {
    const changes = own.flatMap((write) => changeBy(write, key, number, worlds) ?? []);
    const stagesOfRow = stages.map((stage) => stage.change(number, key));
    const states = statesAfter(before.get(key) ?? [never], changes, stagesOfRow).at(-1)!;
    const is = actual.get(key) ?? null;
    const text = textOf(is, compared);
    const fitting = states.filter(({ cells }) => textOf(cells, compared) === text);
    if (fitting.length === 0) problems.push(wordsOf(name, key, shape, is, states));
    else if (fitting.some((state) => JSON.stringify(state) !== JSON.stringify(never))) after.set(key, fitting);
  }
  return { problems, known: after };
}

function sameTypeIn(found: readonly Column[], expected: readonly Column[], name: string): boolean {
  const [one, other] = [found, expected].map((columns) => columns.find((column) => column.name === name));
  return one !== undefined && other !== undefined && formatType(one.type) === formatType(other.type);
}

function textOf(cells: Cells | null, numbers: readonly number[]): string {
  return JSON.stringify(cells && numbers.map((number) => sortedValue(cells[number] ?? null)));
}

function sortedValue(value: Value): unknown {
  if (value === null || typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(sortedValue);
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, own]) => [name, sortedValue(own)]);
}

function rowsByKey(shape: Shape, { rows }: Found, problems: string[]): ReadonlyMap<string, Cells> {
  const byKey = new Map<string, Cells>();
  const key = keyOf(shape);
  for (const row of rows) {
    const own = String(row[key]);
    if (byKey.has(own)) problems.push(`row ${own} is there twice`);
    const cells = shape.columns.map((column) => [column.number, withNumbers(row[column.name] ?? null, column)]);
    byKey.set(own, Object.fromEntries(cells) as Cells);
  }
  return byKey;
}

/** What a write does to the row of a key, by how many stages came before it; undefined where it is about others. */
function changeBy(
  write: Write,
  key: string,
  number: number,
  worlds: readonly World[],
): ((stages: number) => Change) | undefined {
  const row = write.rows.find((one) => one.key === key);
  if (row === undefined && write.kind !== "recreate") return undefined;
  return (stages) => {
    const shape = worlds[stages]?.get(write.table);
    // There it was another table, or none, and such a write would have failed.
    if (shape?.number !== number) return write.isAcknowledged ? () => [] : (state) => [state];
    const changes = alternatives(write, row, shape, worlds.slice(0, stages + 1));
    return (state) => [...(write.isAcknowledged ? [] : [state]), ...changes.flatMap((change) => change(state))];
  };
}

/** One for each column that a name may have meant: the engine finds it when it commits, or the application had looked before. */
function alternatives(
  { kind, table, columns }: Write,
  row: WrittenRow | undefined,
  shape: Shape,
  worlds: readonly World[],
): readonly Change[] {
  if (kind === "delete") return [remove];
  if (row === undefined) return [recreated(null)];
  const meanings = new Map<string, readonly Numbered[]>();
  for (const [index, world] of worlds.entries()) {
    const then = world.get(table);
    if (then?.number !== shape.number) continue;
    const names = index === worlds.length - 1 ? Object.keys(row.values) : columns.map(({ name }) => name);
    if (!names.every((name) => then.columns.some((column) => column.name === name))) continue;
    const meant = Object.keys(row.values).map((name) => then.columns.find((column) => column.name === name)!);
    meanings.set(JSON.stringify(meant), meant);
  }
  // Between two commits of one action a table has names of before and of after it.
  if (meanings.size === 0) {
    const shapes = worlds.map((world) => world.get(table)).filter((then) => then?.number === shape.number);
    const meant = Object.keys(row.values).flatMap(
      (name) => shapes.flatMap((then) => then!.columns.filter((column) => column.name === name)).at(-1) ?? [],
    );
    if (meant.length === Object.keys(row.values).length) meanings.set("", meant);
  }
  return [...meanings.values()].map((meant) => {
    const given: Record<string, Value> = {};
    const keyColumn = shape.columns.find(({ name }) => name === keyOf(shape))!;
    for (const [name, raw] of Object.entries(row.values)) {
      const column = meant[Object.keys(row.values).indexOf(name)]!;
      const now = shape.columns.find((one) => one.number === column.number);
      if (now === undefined) continue;
      const { type } = columns.find((one) => one.name === name)!;
      given[now.number] = castInto(withNumbers(valueOf(raw, type), column), now, shape);
    }
    const none = Object.fromEntries(shape.columns.map((column) => [column.number, null]));
    const inserted = { ...none, ...given, [keyColumn.number]: row.key };
    if (kind === "recreate") return recreated(inserted);
    return put(given, kind === "append" || kind === "put" ? inserted : undefined);
  });
}

/** As the column holds it now, which may have another type than the application knew. */
function castInto(value: Value, column: Numbered, shape: Shape): Value {
  const type = typeOf(shape, column.name);
  if (type.kind !== "struct" || value === null) return cast(value, type);
  const fields = value as Readonly<Record<string, Value>>;
  return Object.fromEntries(
    column.fields.map((field) => {
      const own = type.fields.find(({ name }) => name === field.name)!;
      return [field.number, cast(fields[field.number] ?? null, own.type)];
    }),
  );
}

function wordsOf(table: string, key: string, shape: Shape, is: Cells | null, states: readonly RowState[]): string {
  const words = (cells: Cells | null) =>
    cells === null
      ? "no such row"
      : JSON.stringify(Object.fromEntries(shape.columns.map(({ name, number }) => [name, cells[number]])));
  const should = [...new Set(states.map(({ cells }) => words(cells)))];
  const expected = should.length === 0 ? "nothing: what was written can't be kept" : should.join("\n      or ");
  return `row ${key} of ${table} is\n         ${words(is)}\n  may be ${expected}`;
}
