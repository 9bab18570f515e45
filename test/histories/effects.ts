/** What an action does to each row of a table, and what rolling it back has to do. Pure. */
import type { Action, ActionFor } from "../../src/actions/model/action.ts";
import { sameType, type Column, type DataType } from "../../src/schema/data-type.ts";
import { parsePath } from "../../src/schema/path.ts";
import { findColumn } from "../../src/schema/table.ts";
import type { RowValues } from "../../src/schema/row-values.ts";
import { expressionOf, predicateOf } from "./expressions.ts";
import {
  changeCells,
  deleteRow,
  insertRow,
  restoreCells,
  undelete,
  uninsert,
  type Cells,
  type Change,
  type Undone,
} from "./rows.ts";
import { numbersOf, withNumbers, type Shape, type World } from "./shapes.ts";
import { cast, isKnown, isKnownCast, valueOf, type Raw, type Value } from "./values.ts";

export interface Effect {
  /** The number of the table. */
  readonly table: number;
  /** Of the row of a key. */
  readonly forward: (key: string) => Change;
  readonly back: (key: string, mayLose: boolean) => Change;
  /** The keys of rows that it may bring. */
  readonly brings: readonly string[];
}

const same: Change = (state) => [state];
const nothing = (table: number): Effect => ({ table, forward: () => same, back: () => same, brings: [] });

/** Undefined where what it does can't be foretold. `id` names this carrying out of the action; `keyOf` the table's key. */
export function effectOf(
  action: Action,
  id: string,
  before: World,
  after: World,
  keyOf: (shape: Shape) => string,
): Effect | undefined {
  const [was, is] = [before.get(action.table), after.get(action.table)];
  switch (action.kind) {
    case "createTable":
      return created(action, id, is!, keyOf(is!));
    case "dropTable":
      return { ...nothing(was!.number), forward: () => () => [{ cells: null, kept: {} }] };
    case "addColumns":
      return added(action, id, was!, is!);
    case "dropColumns":
      return dropped(action, id, was!, is!);
    case "alterColumns":
      return altered(action, id, was!, is!);
    case "convertColumn":
      return converted(action, id, was!, is!);
    case "updateRows":
      return updated(action, id, was!);
    case "deleteRows": {
      const holds = predicateOf(action.where, was!);
      if (holds === undefined) return undefined;
      return { ...nothing(was!.number), forward: () => deleteRow(id, holds), back: () => undelete(id) };
    }
    case "insertRows": {
      const rows = rowsByKey(action.rows, was!, action.key);
      return {
        table: was!.number,
        forward: (key) => (rows.has(key) ? insertRow(id, rows.get(key)!) : same),
        back: (_, mayLose) => uninsert(id, false, mayLose),
        brings: [...rows.keys()],
      };
    }
    case "createIndex":
    case "dropIndex":
    case "setMetadata":
    case "renameTable":
      return nothing(was!.number);
    default:
      return undefined;
  }
}

function rowsByKey(rows: readonly RowValues[], shape: Shape, key: string): ReadonlyMap<string, Cells> {
  return new Map(rows.map((row) => [String(row[key]), cellsOf(row as Readonly<Record<string, Raw>>, shape)]));
}

/** Of all columns of a table, null where nothing is given. */
export function cellsOf(row: Readonly<Record<string, Raw>>, { columns, table }: Shape): Cells {
  return Object.fromEntries(
    columns.map((column) => {
      const { type } = findColumn(table.columns, [column.name])!;
      return [column.number, withNumbers(valueOf(row[column.name], type), column)];
    }),
  );
}

function created({ rows = [] }: ActionFor<"createTable">, id: string, is: Shape, key: string): Effect {
  const given = rowsByKey(rows, is, key);
  return {
    table: is.number,
    forward: (own) => (given.has(own) ? insertRow(id, given.get(own)!) : same),
    back: (_, mayLose) => uninsert(id, true, mayLose),
    brings: [...given.keys()],
  };
}

function added({ columns }: ActionFor<"addColumns">, id: string, was: Shape, is: Shape): Effect | undefined {
  const values: [number, (cells: Cells) => Value][] = [];
  for (const { name, type, as } of columns) {
    const value = isKnown(type) ? (as === undefined ? () => null : expressionOf(as, type, was)) : undefined;
    if (value === undefined) return undefined;
    values.push([numbersOf(is.columns, [name])[0]!, value]);
  }
  const to = (cells: Cells) => Object.fromEntries(values.map(([number, value]) => [number, value(cells)]));
  const gone = (_: number, value: Value | undefined): Undone => ({ isLoss: value !== undefined && value !== null });
  return {
    ...nothing(was.number),
    forward: () => changeCells(id, to),
    back: (_, mayLose) =>
      restoreCells(
        id,
        values.map(([number]) => number),
        gone,
        mayLose,
      ),
  };
}

function dropped({ paths }: ActionFor<"dropColumns">, id: string, was: Shape, is: Shape): Effect {
  const left = new Set(is.columns.map(({ number }) => number));
  const tops = [...new Set(paths.map((path) => numbersOf(was.columns, [parsePath(path)[0]!])[0]!))];
  // A field of a struct that stays goes out of each value.
  const inside = paths.map((path) => numbersOf(was.columns, parsePath(path))).filter(([top]) => left.has(top!));
  const nullable = (number: number) => columnOf(was, number).nullable;
  return {
    ...nothing(was.number),
    forward: () => (state) =>
      changeCells(id, (cells) =>
        Object.fromEntries(
          tops.map((top) => [
            top,
            inside
              .filter(([first]) => first === top)
              .reduce((value, path) => change(value, path.slice(1), () => undefined), cells[top] ?? null),
          ]),
        ),
      )(state).map((next) =>
        next.cells === null
          ? next
          : { ...next, cells: Object.fromEntries(Object.entries(next.cells).filter(([one]) => left.has(Number(one)))) },
      ),
    back: (_, mayLose) =>
      restoreCells(
        id,
        tops,
        (number, value) =>
          value === undefined
            ? { value: null, isLoss: !nullable(number) }
            : {
                value: inside
                  .filter(([first]) => first === number)
                  .reduce<Value>((one, path) => change(one, path.slice(1), () => null), value),
                isLoss: false,
              },
        mayLose,
      ),
  };
}

/** A value with something inside it changed; without it where that is undefined. */
function change(value: Value, [first, ...rest]: readonly number[], to: (value: Value) => Value | undefined): Value {
  if (value === null || typeof value === "string" || Array.isArray(value) || first === undefined) return value;
  const fields = value as Readonly<Record<string, Value>>;
  const inside =
    rest.length > 0 ? change(fields[first] ?? null, rest, to) : to(fields[first] === undefined ? null : fields[first]);
  const others = Object.entries(fields).filter(([name]) => name !== String(first));
  return Object.fromEntries(inside === undefined ? others : [...others, [String(first), inside]]);
}

function columnOf({ columns, table }: Shape, number: number): Column {
  return table.columns[columns.findIndex((one) => one.number === number)]!;
}

function altered({ alterations }: ActionFor<"alterColumns">, id: string, was: Shape, is: Shape): Effect | undefined {
  const casts: { readonly path: readonly number[]; readonly from: DataType; readonly to: DataType }[] = [];
  for (const { path, type: to } of alterations) {
    if (to === undefined) continue;
    const { type: from } = findColumn(was.table.columns, parsePath(path))!;
    if (sameType(from, to)) continue;
    if (!isKnownCast(from, to)) return undefined;
    casts.push({ path: numbersOf(was.columns, parsePath(path)), from, to });
  }
  if (casts.length === 0) return nothing(is.number);
  const all = (cells: Cells, side: "from" | "to") => {
    const changed: Record<string, Value> = {};
    for (const one of casts) {
      const [top, ...inside] = one.path;
      const value = changed[top!] ?? cells[top!] ?? null;
      changed[top!] =
        inside.length === 0 ? cast(value, one[side]) : change(value, inside, (inner) => cast(inner, one[side]));
    }
    return changed;
  };
  return {
    ...nothing(was.number),
    forward: () => changeCells(id, (cells) => all(cells, "to")),
    back: (_, mayLose) =>
      restoreCells(
        id,
        [...new Set(casts.map(({ path }) => path[0]!))],
        (number, value = null) => {
          const back = all({ [number]: value }, "from")[number]!;
          const again = all({ [number]: back }, "to")[number]!;
          return { value: back, isLoss: JSON.stringify(again) !== JSON.stringify(value) };
        },
        mayLose,
      ),
  };
}

function converted(
  { path, type, using }: ActionFor<"convertColumn">,
  id: string,
  was: Shape,
  is: Shape,
): Effect | undefined {
  const value = isKnown(type) ? expressionOf(using, type, was) : undefined;
  const numbers = numbersOf(is.columns, parsePath(path));
  if (value === undefined || numbers.length !== 1) return undefined;
  const number = numbers[0]!;
  return {
    ...nothing(was.number),
    forward: () => changeCells(id, (cells) => ({ [number]: value(cells) })),
    // What was written into the new column can't be converted back.
    back: (_, mayLose) =>
      restoreCells(id, [number], (_, one = null) => ({ value: null, isLoss: one !== null }), mayLose),
  };
}

function updated({ set, where }: ActionFor<"updateRows">, id: string, was: Shape): Effect | undefined {
  const holds = where === undefined ? () => true : predicateOf(where, was);
  if (holds === undefined) return undefined;
  const values: [number, (cells: Cells) => Value][] = [];
  for (const [path, sql] of Object.entries(set)) {
    const numbers = numbersOf(was.columns, parsePath(path));
    if (numbers.length !== 1) return undefined;
    const value = expressionOf(sql, columnOf(was, numbers[0]!).type, was);
    if (value === undefined) return undefined;
    values.push([numbers[0]!, value]);
  }
  const to = (cells: Cells) => Object.fromEntries(values.map(([number, value]) => [number, value(cells)]));
  return {
    ...nothing(was.number),
    forward: () => (state) => (state.cells !== null && holds(state.cells) ? changeCells(id, to)(state) : [state]),
    back: (_, mayLose) =>
      restoreCells(
        id,
        values.map(([number]) => number),
        (_, value = null) => ({ value, isLoss: false }),
        mayLose,
      ),
  };
}
