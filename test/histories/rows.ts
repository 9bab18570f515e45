/**
 * One row through a history: what it holds after what applications wrote and migrations did, in every order that the writes
 * and actions of a run may have had. Pure.
 */
import type { Value } from "./values.ts";

/** By the numbers of columns. */
export type Cells = Readonly<Record<string, Value>>;

/** What an action changed in a row and nobody has written since: what rolling it back has to bring back. */
interface Kept {
  /** By columns, what they held; `absent` for a column that was not there. */
  readonly cells: Readonly<Record<string, Value>>;
  /** The row that it deleted. */
  readonly deleted?: Cells | undefined;
  /** The row is the action's own. */
  readonly isOwn?: boolean | undefined;
}

export interface RowState {
  /** Null while there is no such row. */
  readonly cells: Cells | null;
  readonly kept: Readonly<Record<string, Kept>>;
  /** As it was before the migration that ran last. */
  readonly before?: RowState | undefined;
}

/** No value is written like that: texts are quoted. */
const absent = "absent";

const nowhere: RowState = { cells: null, kept: {} };

/** A row that has never been there, after so many migrations. */
export function neverThere(migrations: number): RowState {
  return migrations === 0 ? nowhere : { ...nowhere, before: neverThere(migrations - 1) };
}

/** What happens to a row: all that it may be afterwards, and nothing where that can't be. */
export type Change = (state: RowState) => readonly RowState[];

/**
 * The states after all of these changes by an application, in their order, and each number of the actions, in theirs,
 * whichever came first.
 */
export function statesAfter(
  first: readonly RowState[],
  writes: readonly ((actions: number) => Change)[],
  actions: readonly Change[],
): readonly (readonly RowState[])[] {
  let row: (readonly RowState[])[] = [distinct(first)];
  for (const action of actions) row.push(distinct(row.at(-1)!.flatMap(action)));
  for (const write of writes) {
    const next: (readonly RowState[])[] = [];
    for (const [count, states] of row.entries()) {
      const written = states.flatMap(write(count));
      const acted = count === 0 ? [] : next[count - 1]!.flatMap(actions[count - 1]!);
      next.push(distinct([...written, ...acted]));
    }
    row = next;
  }
  return row;
}

function distinct(states: readonly RowState[]): readonly RowState[] {
  return states.length < 2 ? states : [...new Map(states.map((state) => [JSON.stringify(state), state])).values()];
}

/** An application writes to a row: these cells of one that is there, or, where it may insert it, all of a new one. */
export function put(given: Cells, inserted: Cells | undefined): Change {
  return ({ cells, kept, before }) => {
    if (cells === null)
      return [inserted === undefined ? { cells, kept, before } : { cells: inserted, kept: {}, before }];
    const written = Object.entries(given).filter(([number]) => number in cells);
    const numbers = written.map(([number]) => number);
    const isSame = written.every(([number, value]) => JSON.stringify(cells[number]) === JSON.stringify(value));
    return [
      { cells: { ...cells, ...Object.fromEntries(written) }, kept: withoutCells(kept, numbers), before },
      // Values that were there already may not count as written (docs/rollback.md).
      ...(isSame ? [{ cells, kept, before }] : []),
    ];
  };
}

/** What was written to is the application's from then on. */
function withoutCells(kept: RowState["kept"], numbers: readonly string[]): RowState["kept"] {
  return Object.fromEntries(
    Object.entries(kept).map(([action, { cells, deleted }]) => [
      action,
      { cells: Object.fromEntries(Object.entries(cells).filter(([number]) => !numbers.includes(number))), deleted },
    ]),
  );
}

export const remove: Change = (state) => [state.cells === null ? state : { ...nowhere, before: state.before }];

/** An application drops the table and creates it again, with this row or without it. */
export function recreated(cells: Cells | null): Change {
  return () => [{ cells, kept: {} }];
}

/** Before a migration. */
export const begin: Change = (state) => [{ ...state, before: state }];

/** A migration is rolled back. With consent it may also take with it what was written since. */
export function end(mayLose: boolean): Change {
  return (state) => {
    const { before } = state;
    if (before === undefined) return [state];
    return [{ ...state, before: before.before }, ...(mayLose ? [before] : [])];
  };
}

/** What an action does to cells, which rolling it back undoes where nobody has written to them. */
export function changeCells(action: string, changed: (cells: Cells) => Readonly<Record<string, Value>>): Change {
  return (state) => {
    const { cells, kept } = state;
    if (cells === null) return [state];
    const to = changed(cells);
    const was = Object.fromEntries(Object.keys(to).map((number) => [number, cells[number] ?? absentOr(number, cells)]));
    return [{ ...state, cells: { ...cells, ...to }, kept: { ...kept, [action]: { cells: was } } }];
  };
}

function absentOr(number: string, cells: Cells): Value {
  return number in cells ? null : absent;
}

/** What becomes of a cell that an application has written since; without a value the column goes. */
export interface Undone {
  readonly value?: Value;
  /** Whether what was written is lost with that. */
  readonly isLoss: boolean;
}

/** Undoes `changeCells`. */
export function restoreCells(
  action: string,
  numbers: readonly number[],
  undo: (number: number, value: Value | undefined) => Undone,
  mayLose: boolean,
): Change {
  return (state) => {
    const { cells, kept } = state;
    if (cells === null) return [without(state, action)];
    const left: Record<string, Value> = { ...cells };
    const own = kept[action]?.cells ?? {};
    for (const number of numbers) {
      const was = own[number];
      const undone: Undone =
        was === undefined ? undo(number, cells[number]) : { isLoss: false, ...(was === absent ? {} : { value: was }) };
      if (undone.isLoss && !mayLose) return [];
      delete left[number];
      if (undone.value !== undefined) left[number] = undone.value;
    }
    return [without({ ...state, cells: left }, action)];
  };
}

export function deleteRow(action: string, is: (cells: Cells) => boolean): Change {
  return (state) => {
    const { cells, kept } = state;
    if (cells === null || !is(cells)) return [state];
    return [{ ...state, cells: null, kept: { ...kept, [action]: { cells: {}, deleted: cells } } }];
  };
}

export function undelete(action: string): Change {
  return (state) => {
    const deleted = state.kept[action]?.deleted;
    return [without(state.cells === null && deleted !== undefined ? { ...state, cells: deleted } : state, action)];
  };
}

/** A row that a migration brings, where there is none of its key. */
export function insertRow(action: string, cells: Cells): Change {
  return (state) =>
    state.cells === null
      ? [{ ...state, cells, kept: { ...state.kept, [action]: { cells: {}, isOwn: true } } }]
      : [state];
}

/** Undoes `insertRow`, or the creation of a table: `all` takes every row with it. */
export function uninsert(action: string, all: boolean, mayLose: boolean): Change {
  return (state) => {
    const { cells, kept } = state;
    if (kept[action]?.isOwn === true || (all && cells === null)) return [without({ ...state, cells: null }, action)];
    if (all) return mayLose ? [without({ ...state, cells: null }, action)] : [];
    return [without(state, action)];
  };
}

function without(state: RowState, action: string): RowState {
  const kept = Object.fromEntries(Object.entries(state.kept).filter(([key]) => key !== action));
  return { ...state, kept };
}
